/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/http_failure.h"

#include "base/printable.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* X509_V_ERR_*, openssl/x509_vfy.h: what a failed check of a certificate means. */
static const struct {
	long verify;
	const char *why, *hint;
} certificates[] = {
    {9, "its certificate is not valid yet", "look at this machine's clock"},
    {10, "its certificate has expired",
     "the registry needs a new one; look at this machine's clock too"},
    {18, "its certificate is signed by itself, by nobody this machine trusts",
     "give the certificate's file as an extra CA if it is the right one"},
    {19, "its certificate comes from a CA that this machine does not trust",
     "give the CA's file as an extra CA if it is the right one"},
    {20, "its certificate comes from a CA that this machine does not trust",
     "give the CA's file as an extra CA if it is the right one"},
    {21, "its certificate comes from a CA that this machine does not trust",
     "give the CA's file as an extra CA if it is the right one"},
    {62, "its certificate is for another host",
     "use the name that the certificate is made for"},
    {64, "its certificate is for another address",
     "use the name that the certificate is made for"},
    {66, "its certificate's key is too weak", "the registry needs a new certificate"},
    {67, "its CA's key is too weak", "the registry needs a new certificate"},
    {68, "its certificate is signed with a weak digest",
     "the registry needs a new certificate"},
};

static int certificate(const struct url *url, const struct wire_failure *failure,
		       struct husk_error *err)
{
	char text[160];
	int rc;

	for (size_t i = 0; i < sizeof(certificates) / sizeof(certificates[0]); i++) {
		if (certificates[i].verify != failure->verify)
			continue;
		rc = error_set(err, HUSK_E_REGISTRY, url->authority, "%s",
			       certificates[i].why);
		error_hint(err, "%s", certificates[i].hint);
		return rc;
	}
	/* libcurl compares the names itself, after the chain was found good. */
	if (failure->verify <= 1 && strstr(failure->text, "name")) {
		rc = error_set(err, HUSK_E_REGISTRY, url->authority,
			       "its certificate is for another host");
		error_hint(err, "use the name that the certificate is made for");
		return rc;
	}
	return error_set(err, HUSK_E_REGISTRY, url->authority,
			 "its certificate cannot be trusted: %s",
			 printable(text, sizeof(text), failure->text));
}

static int unreachable(const struct url *url, const struct wire_failure *failure,
		       struct husk_error *err)
{
	char text[128];
	const char *via = failure->proxy ? "the proxy to it" : "it";
	const char *why = failure->os_errno
			      ? strerror_r((int)failure->os_errno, text, sizeof(text))
			      : "no address of it answers";
	int rc = error_set(err, HUSK_E_REGISTRY, url->authority,
			   "%s cannot be reached at port %u: %s", via, url->port, why);

	error_hint(err, "%s",
		   failure->os_errno == ECONNREFUSED
		       ? "nobody listens there; look at the name and the port"
		       : "look at the name, the port and this machine's network");
	return rc;
}

static int late(const struct url *url, const struct wire_failure *failure,
		enum http_failure *ret, struct husk_error *err)
{
	int rc;

	if (failure->whole_s > 0 && strstr(failure->text, "Operation timed out")) {
		rc = error_set(err, HUSK_E_REGISTRY, url->authority,
			       "no whole answer within %u s", failure->whole_s);
		error_hint(err, "the registry or the way to it is too slow");
		return rc;
	}
	if (failure->connected) {
		*ret = HTTP_STALLED;
		rc = error_set(err, HUSK_E_REGISTRY, url->authority,
			       "the transfer stalled: next to nothing came for %u s",
			       failure->stall_s);
		error_hint(err, "the next pull goes on where this one stopped");
		return rc;
	}
	rc = error_set(err, HUSK_E_REGISTRY, url->authority, "no connection within %u s",
		       failure->connect_s);
	error_hint(err, "look at the name, this machine's network, and whether a proxy "
			"is needed");
	return rc;
}

/* The servers that answer a TLS greeting with HTTP, or hang up on it: what OpenSSL and
 * GnuTLS say about the bytes that came. An alert comes from a server that does speak TLS.
 */
static bool not_tls(const char *text)
{
	static const char *const signs[] = {
	    "wrong version number",
	    "packet length too long",
	    "unexpected eof",
	    "record layer failure",
	    "unexpected TLS packet",
	    "http request",
	    "Connection reset by peer",
	    "SSL_ERROR_SYSCALL",
	    "TLS connection was non-properly terminated",
	};

	for (size_t i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (strstr(text, signs[i]))
			return !strstr(text, "alert");
	}
	return false;
}

static int handshake(const struct url *url, const struct wire_failure *failure,
		     enum http_failure *ret, struct husk_error *err)
{
	char text[160];
	int rc;

	if (not_tls(failure->text)) {
		*ret = HTTP_NOT_TLS;
		rc = error_set(err, HUSK_E_REGISTRY, url->authority,
			       "port %u does not speak TLS", url->port);
		error_hint(err, "if it is a registry over plain HTTP and its network "
				"can be trusted, allow plain HTTP");
		return rc;
	}
	return error_set(err, HUSK_E_REGISTRY, url->authority, "no TLS connection: %s",
			 printable(text, sizeof(text), failure->text));
}

static int broken(const struct url *url, const struct wire_failure *failure,
		  enum http_failure *ret, struct husk_error *err)
{
	char text[160];
	int rc;

	if (strstr(failure->text, "CONNECT tunnel failed"))
		return error_set(err, HUSK_E_REGISTRY, url->authority,
				 "the proxy refuses to connect to it: %s",
				 printable(text, sizeof(text), failure->text));
	if (strstr(failure->text, "certificate required")) {
		rc = error_set(err, HUSK_E_REGISTRY, url->authority,
			       "it wants to see a client's certificate");
		error_hint(err, "put NAME.cert and NAME.key into its directory of "
				"certs.d");
		return rc;
	}
	*ret = HTTP_CUT;
	rc = error_set(err, HUSK_E_REGISTRY, url->authority, "the connection broke: %s",
		       printable(text, sizeof(text), failure->text));
	error_hint(err, "the next pull goes on where this one stopped");
	return rc;
}

int http_failure(const struct url *url, const struct wire_failure *failure,
		 enum http_failure *ret, struct husk_error *err)
{
	char text[160];
	int rc;

	*ret = HTTP_OTHER;
	switch (failure->code) {
	case CURLE_OUT_OF_MEMORY:
		return error_oom(err, url->authority);
	case CURLE_COULDNT_RESOLVE_HOST:
		rc = error_set(err, HUSK_E_REGISTRY, url->authority,
			       "its name cannot be resolved");
		error_hint(err, "look at the spelling and at this machine's name "
				"servers (/etc/resolv.conf); an image that is a file "
				"needs no network: husk image import FILE");
		return rc;
	case CURLE_COULDNT_RESOLVE_PROXY:
		return error_set(err, HUSK_E_REGISTRY, url->authority,
				 "the name of the proxy cannot be resolved");
	case CURLE_COULDNT_CONNECT:
		*ret = HTTP_REFUSED;
		return unreachable(url, failure, err);
	case CURLE_OPERATION_TIMEDOUT:
		return late(url, failure, ret, err);
	case CURLE_PEER_FAILED_VERIFICATION:
		return certificate(url, failure, err);
	case CURLE_SSL_CACERT_BADFILE:
		rc = error_set(err, HUSK_E_REGISTRY, url->authority,
			       "no usable CA certificates to check it with");
		error_hint(err, "apt install ca-certificates, or give a CA's file");
		return rc;
	case CURLE_SSL_CONNECT_ERROR:
		return handshake(url, failure, ret, err);
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
	case CURLE_GOT_NOTHING:
	case CURLE_PARTIAL_FILE:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
		return broken(url, failure, ret, err);
	default:
		return error_set(err, HUSK_E_REGISTRY, url->authority, "no answer: %s",
				 printable(text, sizeof(text), failure->text));
	}
}
