/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/http.h"

#include "base/memory.h"
#include "oci/bounds.h"
#include "oci/http_answer.h"
#include "oci/http_failure.h"
#include "oci/http_handle.h"
#include "oci/tls_name.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct http {
	struct http_settings settings;
	const struct lib_curl *curl;
	struct http_handles handles;
};

int http_new(const struct http_settings *settings, struct http **ret,
	     struct husk_error *err)
{
	const struct lib_curl *curl;
	struct http *http;
	int rc = lib_curl(&curl, err);

	if (rc < 0)
		return rc;
	http = calloc(1, sizeof(*http));
	if (!http)
		return error_oom(err, "registry");
	http->settings = *settings;
	if (http->settings.stall_timeout_s == 0)
		http->settings.stall_timeout_s = OCI_STALL_TIMEOUT_S;
	if (http->settings.connect_timeout_s == 0)
		http->settings.connect_timeout_s = OCI_CONNECT_TIMEOUT_S;
	http->curl = curl;
	http_handles_init(&http->handles);
	*ret = http;
	return 0;
}

struct http *http_free(struct http *http)
{
	if (!http)
		return NULL;
	http_handles_deinit(&http->handles, http->curl);
	free(http);
	return NULL;
}

char *http_escape(const char *value)
{
	const struct lib_curl *curl;
	char *escaped, *copy;

	if (lib_curl(&curl, NULL) < 0)
		return NULL;
	escaped = curl->easy_escape(NULL, value, (int)strlen(value));
	if (!escaped)
		return NULL;
	copy = strdup(escaped);
	curl->free(escaped);
	return copy;
}

/* One request under way; what libcurl's callbacks see. */
struct transfer {
	const struct http_request *request;
	struct http_answer *answer;
	struct husk_error *err;
	size_t header_bytes; /* of all headers and trailers */
	bool begun;	     /* the headers are complete */
	int stopped;	     /* why we stopped it ourselves: HUSK_E_*, or 1: ask again */
	bool enough;	     /* an error's body is longer than we care for */
};

static int too_many_headers(struct transfer *transfer)
{
	const char *host = transfer->request->url->authority;

	transfer->stopped = error_set(transfer->err, HUSK_E_REGISTRY, host,
				      "its answer has more than %d KiB of headers",
				      (int)(OCI_MAX_HEADER_BYTES / OCI_KIB));
	return transfer->stopped;
}

static void begin(struct transfer *transfer)
{
	const struct http_sink *sink = transfer->request->sink;

	transfer->begun = true;
	transfer->answer->body.max = transfer->answer->status / 100 == 2 && !sink
					 ? transfer->request->max_body
					 : OCI_MAX_ERROR_BODY;
	if (sink)
		transfer->stopped =
		    sink->begin(sink->user, transfer->answer, transfer->err);
}

/* A status line begins an answer: an interim one (1xx) is followed by another. */
static void status_line(struct transfer *transfer, const char *line, size_t size)
{
	const char *space = memchr(line, ' ', size);
	struct http_answer *answer = transfer->answer;

	http_answer_deinit(answer);
	if (space && size - (size_t)(space - line) > 3)
		answer->status = strtol(space + 1, NULL, 10);
}

static size_t on_header(char *data, size_t unit, size_t count, void *user)
{
	struct transfer *transfer = user;
	size_t size = unit * count, text = size;

	transfer->header_bytes += size;
	if (transfer->header_bytes > OCI_MAX_HEADER_BYTES && too_many_headers(transfer))
		return 0;
	/* Trailers are counted and not believed. */
	if (transfer->begun)
		return size;
	while (text > 0 && (data[text - 1] == '\n' || data[text - 1] == '\r'))
		text--;
	if (text > 5 && memcmp(data, "HTTP/", 5) == 0)
		status_line(transfer, data, text);
	else if (text > 0 && http_answer_header(transfer->answer, data, text) < 0)
		transfer->stopped =
		    error_oom(transfer->err, transfer->request->url->authority);
	else if (text == 0 && transfer->answer->status >= 200)
		begin(transfer);
	return transfer->stopped != 0 ? 0 : size;
}

static size_t on_body(char *data, size_t unit, size_t count, void *user)
{
	struct transfer *transfer = user;
	const struct http_sink *sink = transfer->request->sink;
	struct http_answer *answer = transfer->answer;
	size_t size = unit * count;
	int rc;

	if (sink && (answer->status == 200 || answer->status == 206)) {
		transfer->stopped = sink->write(sink->user, data, size, transfer->err);
		return transfer->stopped != 0 ? 0 : size;
	}
	rc = buffer_add(&answer->body, data, size);
	if (rc == 0)
		return size;
	if (rc == -ENOMEM)
		transfer->stopped =
		    error_oom(transfer->err, transfer->request->url->authority);
	else if (answer->status / 100 == 2)
		transfer->stopped = error_set(
		    transfer->err, HUSK_E_TOO_BIG, transfer->request->url->authority,
		    "its answer is longer than %zu KiB", answer->body.max / 1024);
	else
		transfer->enough = true;
	return 0;
}

#define SET(option, value) \
	(ok = ok && curl->easy_setopt(easy, CURLOPT_##option, value) == CURLE_OK)

static bool set_network(const struct http *http, CURL *easy,
			const struct http_request *request)
{
	const struct lib_curl *curl = http->curl;
	const struct http_settings *settings = &http->settings;
	const char *proxy =
	    request->url->tls ? settings->https_proxy : settings->http_proxy;
	bool ok = true;

	if (!proxy || url_is_loopback(request->url))
		proxy = "";
	SET(PROTOCOLS_STR, "http,https");
	SET(HTTP_VERSION, (long)CURL_HTTP_VERSION_2TLS);
	/* Set, even where empty: else libcurl would look into the environment. */
	SET(PROXY, proxy);
	SET(NOPROXY, settings->no_proxy ? settings->no_proxy : "");
	SET(NOSIGNAL, 1L);
	SET(CONNECTTIMEOUT, (long)settings->connect_timeout_s);
	SET(LOW_SPEED_LIMIT, (long)OCI_MIN_SPEED);
	SET(LOW_SPEED_TIME, (long)settings->stall_timeout_s);
	SET(TIMEOUT, (long)request->timeout_s);
	return ok;
}

static bool proxy_over_tls(const char *proxy)
{
	return proxy && strncasecmp(proxy, "https:", 6) == 0;
}

static bool set_tls(const struct http *http, CURL *easy,
		    const struct http_request *request)
{
	const struct lib_curl *curl = http->curl;
	const struct http_settings *settings = &http->settings;
	bool ok = true;

	SET(SSL_VERIFYPEER, 1L);
	SET(SSL_VERIFYHOST, 2L);
	SET(SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	if (request->url->tls) {
		SET(CAPATH, NULL);
		SET(CAINFO, settings->ca_file && settings->ca_file[0] ? settings->ca_file
								      : "/dev/null");
	}
	/* It would be asked about a proxy's certificate too. */
	if (request->url->tls && !proxy_over_tls(settings->https_proxy))
		ok = ok && tls_name_check(curl, easy, request->url);
	if (request->client_certificate && settings->client_certificate) {
		SET(SSLCERT, settings->client_certificate);
		SET(SSLKEY, settings->client_key);
	}
	return ok;
}

static bool add_header(const struct lib_curl *curl, struct curl_slist **list,
		       const char *name, const char *value)
{
	CLEANUP_BUFFER struct buffer line = BUFFER_INIT(OCI_MAX_HEADER_BYTES);
	struct curl_slist *longer = NULL;

	if (!value)
		return true;
	if (buffer_addf(&line, "%s: %s", name, value) == 0)
		longer = curl->slist_append(*list, line.data);
	if (line.data)
		explicit_bzero(line.data, line.size);
	if (longer)
		*list = longer;
	return longer != NULL;
}

static bool set_request(const struct http *http, CURL *easy,
			const struct http_request *request, struct curl_slist **headers)
{
	const struct lib_curl *curl = http->curl;
	CLEANUP_BUFFER struct buffer url = BUFFER_INIT(2 * (size_t)URL_MAX);
	bool ok = url_text(request->url, &url) == 0;
	char range[32];

	if (!ok)
		return false;
	SET(URL, url.data);
	SET(PATH_AS_IS, 1L);
	SET(USERAGENT, "husk/" HUSK_VERSION);
	if (request->form)
		SET(COPYPOSTFIELDS, request->form);
	if (request->range_from > 0) {
		(void)snprintf(range, sizeof(range), "bytes=%llu-",
			       (unsigned long long)request->range_from);
		ok = ok && add_header(curl, headers, "Range", range);
	}
	ok = ok &&
	     add_header(curl, headers, "Accept",
			request->accept ? request->accept : "*/*") &&
	     add_header(curl, headers, "Accept-Encoding", "identity") &&
	     add_header(curl, headers, "Authorization", request->authorization);
	if (ok)
		SET(HTTPHEADER, *headers);
	return ok;
}

static bool set_callbacks(const struct http *http, struct http_handle *handle,
			  struct transfer *transfer)
{
	const struct lib_curl *curl = http->curl;
	CURL *easy = handle->easy;
	bool ok = true;

	handle->error[0] = '\0';
	SET(ERRORBUFFER, handle->error);
	SET(HEADERFUNCTION, on_header);
	SET(HEADERDATA, transfer);
	SET(WRITEFUNCTION, on_body);
	SET(WRITEDATA, transfer);
	SET(SUPPRESS_CONNECT_HEADERS, 1L);
	SET(BUFFERSIZE, 128L * 1024);
	return ok;
}

static int explain(const struct http *http, struct http_handle *handle,
		   struct transfer *transfer, CURLcode code)
{
	const struct http_request *request = transfer->request;
	struct wire_failure failure = {
	    .code = code,
	    .text = handle->error[0] ? handle->error : http->curl->easy_strerror(code),
	    .connect_s = http->settings.connect_timeout_s,
	    .stall_s = http->settings.stall_timeout_s,
	};
	curl_off_t connected = 0;

	(void)http->curl->easy_getinfo(handle->easy, CURLINFO_OS_ERRNO,
				       &failure.os_errno);
	(void)http->curl->easy_getinfo(handle->easy, CURLINFO_SSL_VERIFYRESULT,
				       &failure.verify);
	(void)http->curl->easy_getinfo(handle->easy, CURLINFO_PRETRANSFER_TIME_T,
				       &connected);
	failure.connected = connected > 0;
	failure.whole_s = request->timeout_s;
	if (!url_is_loopback(request->url))
		failure.proxy = request->url->tls ? http->settings.https_proxy
						  : http->settings.http_proxy;
	/* libcurl quotes a proxy that it does not understand, password and all. */
	if (failure.proxy && strchr(failure.text, '@'))
		failure.text = http->curl->easy_strerror(code);
	return http_failure(request->url, &failure, &transfer->answer->failure,
			    transfer->err);
}

static int conclude(const struct http *http, struct http_handle *handle,
		    struct transfer *transfer, CURLcode code)
{
	const char *host = transfer->request->url->authority;
	struct http_answer *answer = transfer->answer;

	if (code == CURLE_OK || transfer->enough) {
		if (transfer->begun)
			return 0;
		answer->failure = HTTP_CUT;
		return error_set(transfer->err, HUSK_E_REGISTRY, host,
				 "it ended the connection without an answer");
	}
	answer->failure = HTTP_OTHER;
	if (code == CURLE_ABORTED_BY_CALLBACK)
		return error_set(transfer->err, HUSK_E_CANCELLED, host,
				 "the transfer was cancelled");
	if (transfer->stopped > 0) {
		answer->failure = HTTP_AGAIN;
		return error_set(transfer->err, HUSK_E_REGISTRY, host,
				 "it does not send the part that was asked for");
	}
	if (transfer->stopped < 0)
		return transfer->stopped;
	return explain(http, handle, transfer, code);
}

int http_send(struct http *http, const struct http_request *request,
	      struct http_answer *answer, struct husk_error *err)
{
	struct transfer transfer = {.request = request, .answer = answer, .err = err};
	struct http_handle *handle = http_handle_take(&http->handles, http->curl);
	struct curl_slist *headers = NULL;
	int rc;

	http_answer_deinit(answer);
	if (!handle)
		return error_oom(err, request->url->authority);
	if (set_network(http, handle->easy, request) &&
	    set_tls(http, handle->easy, request) &&
	    set_request(http, handle->easy, request, &headers) &&
	    set_callbacks(http, handle, &transfer))
		rc = conclude(http, handle, &transfer,
			      http_handle_run(handle, http->curl, http->settings.stopped,
					      http->settings.user));
	else
		rc = error_oom(err, request->url->authority);
	http->curl->easy_reset(handle->easy);
	for (struct curl_slist *at = headers; at; at = at->next)
		explicit_bzero(at->data, strlen(at->data));
	http->curl->slist_free_all(headers);
	if (rc < 0)
		http_handle_free(handle, http->curl);
	else
		http_handle_give(&http->handles, handle, http->curl);
	return rc;
}
