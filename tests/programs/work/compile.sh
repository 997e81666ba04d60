# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=sh disable=SC1091 # checks.sh is beside it when this runs
# gcc, g++, make and binutils: programs are built and run.
. ./checks.sh

cat >thread.c <<'C'
#include <pthread.h>
#include <stdio.h>
static long sum;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *work(void *unused)
{
	(void)unused;
	for (int i = 0; i < 1000; i++) {
		pthread_mutex_lock(&lock);
		sum++;
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}
int main(void)
{
	pthread_t threads[8];
	for (int i = 0; i < 8; i++)
		pthread_create(&threads[i], NULL, work, NULL);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	return printf("%ld\n", sum) < 0;
}
C
cat >part.c <<'C'
int part(int n) { return n * 2; }
C
cat >whole.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	void *h = dlopen("./libpart.so", RTLD_NOW);
	int (*part)(int) = h ? (int (*)(int))dlsym(h, "part") : 0;
	return part ? printf("%d\n", part(21)) < 0 : 1;
}
C
cat >parallel.c <<'C'
#include <stdio.h>
int main(void)
{
	long sum = 0;
#pragma omp parallel for reduction(+ : sum)
	for (int i = 0; i < 1000; i++)
		sum += i;
	return printf("%ld\n", sum) < 0;
}
C
cat >modern.cc <<'C'
#include <filesystem>
#include <fstream>
#include <future>
#include <iostream>
#include <mutex>
#include <stdexcept>
#include <thread>
#include <vector>
int main()
{
	std::vector<std::future<int>> all;
	for (int i = 0; i < 8; i++)
		all.push_back(std::async(std::launch::async, [i] { return i * i; }));
	int sum = 0;
	for (auto &one : all)
		sum += one.get();
	std::filesystem::create_directories("made/by/cc");
	std::ofstream("made/by/cc/f") << "text";
	std::filesystem::copy("made", "copied", std::filesystem::copy_options::recursive);
	try {
		throw std::runtime_error("thrown");
	} catch (const std::exception &e) {
		std::cout << sum << " " << e.what() << " "
			  << std::filesystem::file_size("copied/by/cc/f") << "\n";
	}
}
C
cat >wrong.c <<'C'
int main(int argc, char **argv)
{
	int numbers[4] = {0};
	(void)argv;
	return numbers[argc + 3];
}
C
cat >Makefile <<'M'
OBJECTS := $(foreach n,1 2 3 4 5 6 7 8,o$(n).o)
all: $(OBJECTS)
	@cat $(OBJECTS) >all
o%.o: thread.c
	@gcc -c -o $@ $<
M

threads() {
	gcc -O2 -Wall -pthread thread.c -o thread && test "$(./thread)" = 8000
}
static_programs() {
	gcc -static -pthread thread.c -o fixed && test "$(./fixed)" = 8000
}
libraries() {
	gcc -c -fPIC part.c && ar rcs libpart.a part.o && ranlib libpart.a &&
		gcc -shared part.o -o libpart.so && gcc whole.c -o whole && test "$(./whole)" = 42
}
whole_program_optimisation() {
	gcc -O2 -flto=2 -pthread thread.c part.c -o lto && test "$(./lto)" = 8000
}
parallel_loops() {
	gcc -fopenmp parallel.c -o parallel && test "$(OMP_NUM_THREADS=4 ./parallel)" = 499500
}
modern_cplusplus() {
	g++ -std=c++17 -O1 -pthread modern.cc -o modern && test "$(./modern)" = "140 thrown 4"
}
makefiles_in_parallel() {
	make -s -j4 && test -s all && make -s -q all
}
address_sanitizer() {
	gcc -fsanitize=address -pthread thread.c -o asan &&
		test "$(ASAN_OPTIONS=detect_leaks=0 ./asan)" = 8000 &&
		gcc -fsanitize=address wrong.c -o wrong &&
		! ASAN_OPTIONS=detect_leaks=0 ./wrong 2>report && grep -q stack-buffer-overflow report
}
undefined_behaviour_sanitizer() {
	gcc -fsanitize=undefined wrong.c -o ub && ./ub 2>report
	grep -q "out of bounds" report
}
coverage() {
	gcc --coverage -pthread thread.c -o covered && ./covered >/dev/null &&
		gcov covered-thread.c 2>/dev/null | grep -q "executed"
}
tools_for_objects() {
	strip -o small thread && test "$(./small)" = 8000 && nm thread | grep -q ' T main' &&
		objdump -d small | grep -q ret && readelf -h small | grep -q ELF64 &&
		size thread | grep -q thread && gcc -S part.c && as part.s -o again.o
}
from_standard_input() {
	echo 'int main(void) { return 3; }' | gcc -pipe -x c - -o three
	./three
	test $? -eq 3
}

report threads static_programs libraries whole_program_optimisation parallel_loops \
	modern_cplusplus makefiles_in_parallel address_sanitizer undefined_behaviour_sanitizer \
	coverage tools_for_objects from_standard_input
