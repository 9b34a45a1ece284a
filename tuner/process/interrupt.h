// The wish that this process may end, as a flag: long work looks at it between steps, and waiting for a child ends
// early.
//
// Ctrl-C and SIGTERM wish so, a terminal that closes (SIGHUP) and a used-up limit of CPU time (SIGXCPU). A process that
// was started with SIGHUP ignored, by nohup, goes on without its terminal. A second Ctrl-C or SIGTERM ends the process
// at once. Two signals that come together are one: timeout(1) sends its signal to the process and to its group.
#pragma once

namespace kiln {

void install_interrupt_handler();
bool interrupted();
int interrupt_descriptor();  // readable once interrupted, for poll(); -1 before install_interrupt_handler()

}  // namespace kiln
