/* A program that does what its standard input says, one command in a line, and answers each with
 * one line. It uses the interface of heapgauge.h and gets into the situations that a host of the
 * service can be in. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <heapgauge/heapgauge.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static void* kept[100000];
static int kept_count;
static volatile sig_atomic_t handled_by_main;
static volatile sig_atomic_t handled_elsewhere;

__attribute__((noinline)) void hold_memory(int blocks, int bytes) {
  for (int i = 0; i < blocks && kept_count < 100000; ++i) {
    kept[kept_count] = malloc((size_t)bytes);
    if (kept[kept_count] != NULL) memset(kept[kept_count++], 1, (size_t)bytes);
  }
}

static void on_signal(int number) {
  (void)number;
  if (syscall(SYS_gettid) == getpid()) {
    ++handled_by_main;
  } else {
    ++handled_elsewhere;
  }
}

static int count_sockets(void) {
  int sockets = 0;
  for (int fd = 3; fd < 1024; ++fd) {
    struct stat info;
    if (fstat(fd, &info) == 0 && S_ISSOCK(info.st_mode)) ++sockets;
  }
  return sockets;
}

static int listen_somewhere(void) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  if (bind(fd, (struct sockaddr*)&address, sizeof address) != 0 || listen(fd, 16) != 0) return -1;
  return fd;
}

static int port_of(int fd) {
  struct sockaddr_in address;
  socklen_t size = sizeof address;
  getsockname(fd, (struct sockaddr*)&address, &size);
  return ntohs(address.sin_port);
}

/* In the child: does everything work that should, and is nothing left of the parent's port? */
static void in_child(int pipe_end) {
  void* data = NULL;
  size_t size = 0;
  char line[300];
  const int sockets = count_sockets();
  const int dumped = heapgauge_dump_data(HEAPGAUGE_FORMAT_TEXT, &data, &size);
  snprintf(line, sizeof line, "sockets %d dump %d %s", sockets, dumped,
           dumped == 0 ? "" : heapgauge_error());
  heapgauge_free_data(data);
  if (write(pipe_end, line, strlen(line)) < 0) _exit(1);
  _exit(0);
}

static void fork_and_tell(void) {
  int ends[2];
  char line[400] = "";
  if (pipe(ends) != 0) return;
  const pid_t child = fork();
  if (child == 0) in_child(ends[1]);
  close(ends[1]);
  if (read(ends[0], line, sizeof line - 1) <= 0) strcpy(line, "nothing from the child");
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  printf("%s status %d\n", line, status);
}

static void slow_end(void) { usleep(300000); }

static void dump_to_memory(int format) {
  void* data = NULL;
  size_t size = 0;
  const int result = heapgauge_dump_data((enum heapgauge_format)format, &data, &size);
  printf("%d %zu %.20s\n", result, size,
         format == HEAPGAUGE_FORMAT_TEXT && data ? (char*)data : "");
  heapgauge_free_data(data);
}

static void compare_snapshots(void) {
  heapgauge_snapshot* before = NULL;
  heapgauge_snapshot* after = NULL;
  void* data = NULL;
  size_t size = 0;
  const int first = heapgauge_take_snapshot(&before);
  hold_memory(100, 50000);
  const int second = heapgauge_take_snapshot(&after);
  const int result = heapgauge_diff(before, after, HEAPGAUGE_FORMAT_TEXT, &data, &size);
  printf("%d %d %d %.*s\n", first, second, result, data ? (int)strcspn(data, "\n") : 0,
         data ? (char*)data : "");
  heapgauge_free_data(data);
  heapgauge_release_snapshot(before);
  heapgauge_release_snapshot(after);
}

/* Closes what it does not know, as some programs do, and uses the numbers for sockets of its own.
 */
static int replace_descriptors(void) {
  int last = -1;
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  for (int i = 0; i < 8; ++i) last = listen_somewhere();
  return last;
}

int main(void) {
  char line[4096];
  int listening = -1;
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGUSR1, &action, NULL);
  setvbuf(stdout, NULL, _IOLBF, 0);
  while (fgets(line, sizeof line, stdin) != NULL) {
    char word[32] = "", text[4000] = "";
    int a = 0, b = 0;
    line[strcspn(line, "\n")] = 0;
    sscanf(line, "%31s %3999[^\n]", word, text);
    sscanf(text, "%d %d", &a, &b);
    if (strcmp(word, "hold") == 0) {
      hold_memory(a, b);
      printf("held\n");
    } else if (strcmp(word, "serve") == 0) {
      const int result = heapgauge_serve(text);
      printf("%d %s\n", result, result == 0 ? "" : heapgauge_error());
    } else if (strcmp(word, "signals") == 0) {
      for (int i = 0; i < a; ++i) kill(getpid(), i % 2 == 0 ? SIGTERM : SIGUSR1);
      printf("main %d elsewhere %d\n", (int)handled_by_main, (int)handled_elsewhere);
    } else if (strcmp(word, "sockets") == 0) {
      printf("%d\n", count_sockets());
    } else if (strcmp(word, "fork") == 0) {
      fork_and_tell();
    } else if (strcmp(word, "replace") == 0) {
      listening = replace_descriptors();
      printf("%d\n", port_of(listening));
    } else if (strcmp(word, "accept") == 0) {
      const int fd = accept(listening, NULL, NULL);
      printf("%s\n", fd >= 0 && write(fd, "mine", 4) == 4 ? "accepted" : "failed");
      close(fd);
    } else if (strcmp(word, "dump") == 0) {
      dump_to_memory(a);
    } else if (strcmp(word, "diff") == 0) {
      compare_snapshots();
    } else if (strcmp(word, "active") == 0) {
      printf("%d\n", heapgauge_is_active());
    } else if (strcmp(word, "path") == 0) {
      printf("%s\n", heapgauge_gauge_path());
    } else if (strcmp(word, "exec") == 0) {
      execl(text, text, (char*)NULL);
      printf("%s\n", strerror(errno));
    } else if (strcmp(word, "slowexit") == 0) {
      atexit(slow_end);
      exit(7);
    } else {
      printf("what? %s\n", word);
    }
  }
  return 0;
}
