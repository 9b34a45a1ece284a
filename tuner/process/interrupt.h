// Ctrl-C and SIGTERM as a flag: long work looks at it between steps, and waiting for a child ends early.
#pragma once

namespace kiln {

void install_interrupt_handler();  // SIGINT and SIGTERM; a second one ends the process at once
bool interrupted();
int interrupt_descriptor();  // readable once interrupted, for poll(); -1 before install_interrupt_handler()

}  // namespace kiln
