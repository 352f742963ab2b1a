/* What the parts of the layer share and protocols need not see. */
#ifndef COMMON_MESSAGES_PARTS_H
#define COMMON_MESSAGES_PARTS_H

#include "common/messages/mail.h"

#define MAIL_EXPORTED __attribute__((visibility("default")))

bool mail_is_open(void);
bool mail_native_collectives(void);

/* Ends the job: the program does what is not supported. */
_Noreturn void mail_refuse(const char *what, const char *instead);

/* A message is handed over to the program: tells the protocol if it is one of those kept. */
void mail_handed_over(const struct packet *packet);

/* Tells Faultline of every request that the program has: when an image was read, ahead of all that
 * the program does again. */
void mail_tell_requests(void);

/* A call that sends begins; what it sends is on its way. See mail_sending. */
void mail_begin_sending(void);
void mail_end_sending(void);

#endif
