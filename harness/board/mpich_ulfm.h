/* Whether the MPICH that ranks are run with has ULFM; that of Debian has its functions, which
 * abort. Shared by the driver, the parents of ranks and the ranks. */
#ifndef BOARD_MPICH_ULFM_H
#define BOARD_MPICH_ULFM_H

#include <stdbool.h>

/* "1": it has. Set by the user, who names the library by LD_LIBRARY_PATH. */
#define MPICH_ULFM_ENVIRONMENT "FAULTLINE_MPICH_ULFM"

/* Then the library itself informs ranks who has died, and no parent stays in the place of the dead.
 */
bool mpich_has_ulfm(void);

#endif
