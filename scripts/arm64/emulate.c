/* emulate.c: stands for each arm64 program of the suites, under its name, where the driver of
 * another processor starts ranks: runs the program of that name in the folder PROGRAMS under
 * qemu-aarch64, with the libraries of the folder ROOT. What is to be preloaded is for the program
 * alone; linked statically, this one takes no notice of it, and the emulator must not see it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ARGUMENTS_MOST 64
#define PRELOAD_BYTES 8192

int main(int argc, char **argv)
{
    static char preload[PRELOAD_BYTES], program[PRELOAD_BYTES];
    char *arguments[ARGUMENTS_MOST] = {"qemu-aarch64", "-L", ROOT, "-E", preload, program};
    const char *asked = getenv("LD_PRELOAD"), *slash = strrchr(argv[0], '/');
    int count = 6;
    snprintf(preload, sizeof preload, "LD_PRELOAD=%s", asked != NULL ? asked : "");
    snprintf(program, sizeof program, PROGRAMS "/%s", slash != NULL ? slash + 1 : argv[0]);
    for (int i = 1; i < argc && count + 1 < ARGUMENTS_MOST; i++)
        arguments[count++] = argv[i];
    unsetenv("LD_PRELOAD");
    execvp(arguments[0], arguments);
    perror("emulate: qemu-aarch64");
    return 127;
}
