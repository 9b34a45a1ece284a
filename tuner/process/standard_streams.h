// Standard input, output and error output as a command may rely on them: whatever they are, writing to them never
// throws, kills or blocks for long what the command does.
//
// stdin, stdout and stderr that are closed become /dev/null, so that no file takes their numbers: a message would be
// written into a database. Everything that is printed goes through one place: what cannot be written (a full disk, a
// reader or a terminal that is gone, a file size limit) is dropped, and for stdout the reason is kept. A message that
// stderr does not take within a moment is dropped, too: nobody may be there to read it. An answer on stdout is waited
// for, until the user interrupts.
#pragma once

#include "workload/result.h"

namespace kiln {

// The first thing in main(), once in a process; it lasts until the end of the process.
void take_over_standard_streams();

// Writes out what is left of the answer. Errors (environment): some of it did not arrive.
Status finish_answer();

// Whether somebody stopped reading the answer, as `head` does: nobody wants a message about it.
bool answer_was_cut_off();

}  // namespace kiln
