#!/usr/bin/env bash
# Checks the types of web/src and tests/web by TypeScript's native compiler (no Node), fetched once into build/web.
#
#   tools/check_types.sh
set -euo pipefail
cd "$(dirname "$0")/.."

case "$(uname -m)" in
  x86_64) cpu=x64 ;;
  aarch64) cpu=arm64 ;;
  *)
    echo "   no TypeScript for this CPU, skipped"
    exit 0
    ;;
esac
for package in preact "@typescript/typescript-linux-$cpu"; do
  cmake -DPACKAGE="$package" -P cmake/WebPackages.cmake
done
cat >build/web/tsconfig.json <<'END'
{
  "compilerOptions": {
    "target": "es2022", "module": "es2022", "moduleResolution": "bundler", "lib": ["es2022", "dom", "dom.iterable"],
    "jsx": "react-jsx", "jsxImportSource": "preact", "noEmit": true, "types": [], "skipLibCheck": true,
    "strict": true, "noUncheckedIndexedAccess": true, "exactOptionalPropertyTypes": true, "noImplicitReturns": true,
    "noUnusedLocals": true, "noUnusedParameters": true, "noFallthroughCasesInSwitch": true,
    "paths": { "preact": ["./node_modules/preact"], "preact/*": ["./node_modules/preact/*"] }
  },
  "include": ["../../web/src", "../../tests/web"]
}
END
"build/web/node_modules/@typescript/typescript-linux-$cpu/lib/tsc" --project build/web/tsconfig.json
