/* SPDX-License-Identifier: Apache-2.0 */
/* What kind of file it is: by the ending of its name, and by its first bytes. */
#include "cli/mcp.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static const struct {
	const char *ending, *type;
	bool picture;
} endings[] = {
    {".csv", "text/csv", false},	  {".html", "text/html", false},
    {".jpeg", "image/jpeg", true},	  {".jpg", "image/jpeg", true},
    {".json", "application/json", false}, {".md", "text/markdown", false},
    {".pdf", "application/pdf", false},	  {".png", "image/png", true},
    {".py", "text/x-python", false},	  {".svg", "image/svg+xml", true},
    {".txt", "text/plain", false},
};

static size_t find_ending(const char *path)
{
	const char *dot = strrchr(path, '.');

	for (size_t i = 0; dot && i < COUNT(endings); i++) {
		if (strcasecmp(endings[i].ending, dot) == 0)
			return i;
	}
	return COUNT(endings);
}

bool mcp_is_picture_name(const char *path)
{
	size_t i = find_ending(path);

	return i < COUNT(endings) && endings[i].picture;
}

const char *mcp_media_type_by_name(const char *path)
{
	size_t i = find_ending(path);

	return i < COUNT(endings) ? endings[i].type : NULL;
}

/* A header with a size that is one, and the end (PNG specification, sections 11.2.2 and
 * 11.2.5): what only begins like a picture would make a client's model refuse the whole
 * conversation. */
static bool is_png(const unsigned char *data, size_t size)
{
	static const char end[] = "IEND\xae\x42\x60\x82";

	return size >= 57 && memcmp(data, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16) == 0 &&
	       data[16] == 0 && data[20] == 0 && (data[17] | data[18] | data[19]) != 0 &&
	       (data[21] | data[22] | data[23]) != 0 &&
	       memmem(data + size - (size < 4096 ? size : 4096),
		      size < 4096 ? size : 4096, end, sizeof(end) - 1);
}

/* Its first and its last marker (ITU-T T.81, annex B). */
static bool is_jpeg(const unsigned char *data, size_t size)
{
	size_t tail = size < 4096 ? size : 4096;

	return size >= 125 && memcmp(data, "\xff\xd8\xff", 3) == 0 &&
	       memmem(data + size - tail, tail, "\xff\xd9", 2);
}

const char *mcp_picture_type(const char *data, size_t size)
{
	size_t head = size < 1024 ? size : 1024;

	if (is_png((const unsigned char *)data, size))
		return "image/png";
	if (is_jpeg((const unsigned char *)data, size))
		return "image/jpeg";
	if (memmem(data, head, "<svg", 4))
		return "image/svg+xml";
	return NULL;
}

const char *mcp_media_type(const char *path, const char *data, size_t size)
{
	size_t i = find_ending(path);
	const char *picture = mcp_picture_type(data, size);
	json_t *string;

	if (picture && mcp_is_picture_name(path))
		return picture;
	string = json_stringn(data, size);
	json_decref(string);
	if (!string)
		return "application/octet-stream";
	if (i < COUNT(endings) && !endings[i].picture)
		return endings[i].type;
	return "text/plain";
}
