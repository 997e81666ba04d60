/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How a Python interpreter waits for its source.
 *
 * It is started as any other, python3 -c TEXT, with a TEXT that is a long comment; and it
 * finds a module of ours under the name sitecustomize, which Python imports as the last
 * thing of its own start. There it waits. When the source comes, it is put in the place
 * of the comment in the interpreter's own copy of its command (found in its memory by
 * that comment, a newline and the end of the text behind it), and the start goes on: what
 * then runs the source is what runs the source of any python3 -c, with nothing of ours
 * below it, before it or after it.
 *
 * What the interpreter has loaded by then is put out of its collector's sight: it lives
 * to the end anyhow, and three passes over it would be half of what a short call takes.
 * But what is only reachable from there would never be finalized, and a file that the
 * code leaves open at its end never be flushed. So the names of __main__ stay in sight:
 * its dictionary is empty for one collection, after which the collector has forgotten it,
 * and knows it anew when it is filled. (An interpreter whose collector forgets none does
 * without all this.) Modules that were loaded on request may hold objects of the code,
 * as typing's caches do: then all is put back in sight at the end, if there is anything
 * that has a finalizer.
 *
 * It starts in "/": nothing that is executed or loaded by then is to depend on what lies
 * in the workspace. An interpreter that the code makes within its own process also finds
 * our module; what waits is only the first, which has our directory in its variables.
 *
 * The place for a system's own sitecustomize is kept: it is imported as it would have
 * been. Names of the workspace are put on the path only when the call has begun.
 */
#include "session/spare_python.h"

#include <string.h>

static const char wait_text[] =
    "def thaw(gc, order, names):\n"
    "    new = gc.get_objects()\n"
    "    if len(new) < 20000:\n"
    "        for kind in {id(type(x)): type(x) for x in new}.values():\n"
    "            if any('__del__' in names(x) for x in order(kind)):\n"
    "                break\n"
    "        else:\n"
    "            return\n"
    "    gc.unfreeze()\n"
    "def wait(token, path, deps, preload, read_deps):\n"
    "    import os, posix, sys\n"
    "    at = sys.path.index(path)\n"
    "    del sys.path[at]\n"
    "    sys.path_importer_cache.pop(path, None)\n"
    "    sys.modules.pop('sitecustomize', None)\n"
    "    if os.environ.get('PYTHONPATH') != path:\n"
    "        sys.path.insert(at, deps)\n"
    "        import sitecustomize\n"
    "        return\n"
    "    def find(pattern):\n"
    "        found = []\n"
    "        maps, part = b'', b'-'\n"
    "        fd = posix.open('/proc/self/maps', posix.O_RDONLY | posix.O_CLOEXEC)\n"
    "        while part:\n"
    "            part = posix.read(fd, 1 << 16)\n"
    "            maps += part\n"
    "        posix.close(fd)\n"
    "        for line in maps.splitlines():\n"
    "            part = line.split(None, 5)\n"
    "            name = part[5] if len(part) > 5 else b''\n"
    "            if part[1][:2] != b'rw' or name not in (b'', b'[heap]'):\n"
    "                continue\n"
    "            first, last = (int(x, 16) for x in part[0].split(b'-'))\n"
    "            try:\n"
    "                data = posix.pread(memory, last - first, first)\n"
    "            except OSError:\n"
    "                continue\n"
    "            at = data.find(pattern)\n"
    "            while at >= 0:\n"
    "                found.append(first + at)\n"
    "                at = data.find(pattern, at + len(pattern))\n"
    "        return found\n"
    "    def give_up():\n"
    "        posix._exit(70)\n"
    "    def receive(size):\n"
    "        data = b''\n"
    "        while len(data) < size:\n"
    "            part = posix.read(3, size - len(data))\n"
    "            if not part:\n"
    "                give_up()\n"
    "            data += part\n"
    "        return data\n"
    "    def names():\n"
    "        found = set()\n"
    "        for name, module in list(sys.modules.items()):\n"
    "            source = getattr(module, '__file__', None)\n"
    "            if not (isinstance(source, str) and source.startswith(deps + '/')):\n"
    "                found.add(name.partition('.')[0])\n"
    "        return found - {'__main__'}\n"
    "    def join(label, found):\n"
    "        return label + ' ' + ' '.join(sorted(found)) + ' \\n'\n"
    "    def flush():\n"
    "        for stream in (sys.stdout, sys.stderr, sys.__stdout__, sys.__stderr__):\n"
    "            try:\n"
    "                stream.flush()\n"
    "            except BaseException:\n"
    "                pass\n"
    "    kept_streams = []\n"
    "    def divert():\n"
    "        flush()\n"
    "        nowhere = posix.open('/dev/null', posix.O_WRONLY | posix.O_CLOEXEC)\n"
    "        for fd in (1, 2):\n"
    "            kept_streams.append(posix.dup(fd))\n"
    "            posix.dup2(nowhere, fd)\n"
    "        posix.close(nowhere)\n"
    "    def restore():\n"
    "        flush()\n"
    "        for fd in (1, 2):\n"
    "            posix.dup2(kept_streams[fd - 1], fd)\n"
    "            posix.close(kept_streams[fd - 1])\n"
    "    codec = 'utf-32-le' if sys.byteorder == 'little' else 'utf-32-be'\n"
    "    known = set(sys.modules)\n"
    "    pattern = (token + '\\n\\0').encode(codec)\n"
    "    for name in set(sys.modules) - known:\n"
    "        del sys.modules[name]\n"
    "        package, _, name = name.rpartition('.')\n"
    "        delattr(sys.modules[package], name)\n"
    "    memory = posix.open('/proc/self/mem', posix.O_RDWR | posix.O_CLOEXEC)\n"
    "    places = find(pattern)\n"
    "    if not places:\n"
    "        give_up()\n"
    "    missing = None\n"
    "    try:\n"
    "        import sitecustomize\n"
    "    except BaseException as error:\n"
    "        missing = error\n"
    "    base = names()\n"
    "    trouble = ''\n"
    "    import gc\n"
    "    if preload:\n"
    "        import atexit\n"
    "        atexit.register(thaw, gc, type.__dict__['__mro__'].__get__,\n"
    "                        type.__dict__['__dict__'].__get__)\n"
    "        if 'atexit' not in known:\n"
    "            del sys.modules['atexit']\n"
    "        if read_deps:\n"
    "            sys.path.insert(at, deps)\n"
    "        divert()\n"
    "        for name in preload:\n"
    "            try:\n"
    "                __import__(name)\n"
    "            except BaseException as error:\n"
    "                trouble = 'trouble preload: %s: %s: %s\\n' % (\n"
    "                    name, type(error).__name__, str(error)[:300].replace('\\n', ' "
    "'))\n"
    "                break\n"
    "        restore()\n"
    "        if read_deps:\n"
    "            del sys.path[at]\n"
    "    main = sys.modules['__main__'].__dict__\n"
    "    kept = list(main.items())\n"
    "    main.clear()\n"
    "    gc.collect()\n"
    "    if not gc.is_tracked(main):\n"
    "        gc.freeze()\n"
    "    for name, value in kept:\n"
    "        main[name] = value\n"
    "    if 'gc' not in known:\n"
    "        del sys.modules['gc']\n"
    "    text = join('base', base) + join('extra', names() - base) + trouble\n"
    "    text = text.encode('utf-8', 'replace')\n"
    "    posix.write(3, b'r' + len(text).to_bytes(4, 'little') + text)\n"
    "    code = receive(int.from_bytes(receive(8), 'little'))\n"
    "    code = os.fsdecode(code)\n"
    "    new = (code + '\\n\\0').encode(codec, 'surrogatepass')\n"
    "    if len(new) > len(pattern):\n"
    "        give_up()\n"
    "    for place in places:\n"
    "        if posix.pread(memory, len(pattern), place) != pattern:\n"
    "            give_up()\n"
    "        posix.pwrite(memory, new, place)\n"
    "    posix.close(memory)\n"
    "    arguments = getattr(sys, 'orig_argv', ())\n"
    "    for i, argument in enumerate(arguments):\n"
    "        if argument == token:\n"
    "            arguments[i] = code\n"
    "    try:\n"
    "        posix.chdir('/workspace')\n"
    "    except OSError:\n"
    "        give_up()\n"
    "    sys.path.insert(at, deps)\n"
    "    os.environ['PYTHONPATH'] = deps\n"
    "    posix.write(3, b'y')\n"
    "    posix.close(3)\n"
    "    if missing is not None:\n"
    "        raise missing\n";

/* The name that site expects where there is no such module; of whatever else a system's
 * own one raised, site says what it always says. */
static const char end_text[] = "del thaw, wait\n";

void spare_python_token(char *token)
{
	static const char begin[] = "# the source of a call comes here";

	memset(token, ' ', SPARE_PYTHON_SIZE);
	memcpy(token, begin, sizeof(begin) - 1);
	token[SPARE_PYTHON_SIZE - 1] = '#';
	token[SPARE_PYTHON_SIZE] = '\0';
}

int spare_python_module(char *const *preload, bool read_deps, const char *token,
			struct buffer *out)
{
	int r = buffer_add_text(out, wait_text);

	if (r == 0)
		r = buffer_addf(out, "wait('''%s''', '%s', '%s', (", token, BOX_CODE_DIR,
				SPARE_PYTHON_DEPS);
	for (size_t i = 0; r == 0 && preload && preload[i]; i++)
		r = buffer_addf(out, "'%s', ", preload[i]);
	if (r == 0)
		r = buffer_addf(out, "), %s)\n%s", read_deps ? "True" : "False",
				end_text);
	return r;
}
