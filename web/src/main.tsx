import { render } from "preact";

render(<p>Strata</p>, document.getElementById("page")!);
