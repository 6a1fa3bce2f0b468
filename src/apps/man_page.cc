#include "apps/man_page.h"

#include <vector>

#include <fmt/format.h>

namespace strata {
namespace {

// Text that roff shows as it is: no line is taken for a request, no dash for a hyphen.
std::string Escape(std::string_view text) {
  std::string escaped;
  bool at_start = true;
  for (const char c : text) {
    if (at_start && (c == '.' || c == '\'')) escaped += "\\&";
    at_start = c == '\n';
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// Footers are laid out by hand.
std::string AsItIs(std::string_view text) {
  while (text.starts_with('\n')) text.remove_prefix(1);
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", Escape(text));
}

std::string Entry(const CommandTree::Flag& flag) {
  std::string names;
  for (const std::string& name : {flag.short_name, flag.long_name}) {
    if (name.empty()) continue;
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", Escape(name));
  }
  if (!flag.value.empty()) {
    names += fmt::format("{}\\fI{}\\fR", names.empty() ? "" : " ", Escape(flag.value));
  }
  return fmt::format(".TP\n{}\n{}\n", names, Escape(flag.summary));
}

std::string Section(const CommandTree& command) {
  std::string text = fmt::format(".SS {}\n{}.\n", Escape(command.path), Escape(command.summary));
  for (const CommandTree::Flag& argument : command.arguments) text += Entry(argument);
  for (const CommandTree::Flag& flag : command.flags) text += Entry(flag);
  return text + AsItIs(command.footer);
}

}  // namespace

std::string ManPage(const CommandTree& tree, std::string_view version) {
  std::string text = fmt::format(".TH STRATA 1 \"\" \"strata {}\" \"User Commands\"\n", version);
  // Long words, such as the form of a flag's value, cannot be stretched to the margin.
  text += ".ad l\n";
  text += fmt::format(".SH NAME\nstrata \\- {}\n", Escape(tree.summary));
  text += ".SH SYNOPSIS\n\\fBstrata\\fR \\fICOMMAND\\fR [\\fIFLAG\\fR ...]\n";
  text += ".SH DESCRIPTION\n";
  for (const CommandTree& command : tree.commands) {
    text += fmt::format(".TP\n\\fB{}\\fR\n{}\n", Escape(command.path), Escape(command.summary));
  }
  text += AsItIs(tree.footer);
  text += ".SH COMMANDS\n";
  for (const CommandTree* command : AllCommands(tree)) {
    if (command != &tree && command->commands.empty()) text += Section(*command);
  }
  return text;
}

}  // namespace strata
