/* SPDX-License-Identifier: Apache-2.0 */
#include "oci/tls_name.h"

#include "oci/lib_ssl.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

static bool is_address(const char *host)
{
	unsigned char address[sizeof(struct in6_addr)];

	return inet_pton(AF_INET, host, address) == 1 ||
	       inet_pton(AF_INET6, host, address) == 1;
}

static CURLcode on_context(CURL *easy, void *context, void *user)
{
	const struct url *url = user;
	const bool literal = url->host[0] == '[';
	const struct lib_ssl *ssl;
	X509_VERIFY_PARAM *param;
	char host[URL_HOST];
	int good;

	(void)easy;
	if (lib_ssl(&ssl, NULL) < 0)
		return CURLE_OUT_OF_MEMORY;
	(void)snprintf(host, sizeof(host), "%s", url->host + (literal ? 1 : 0));
	host[strcspn(host, "]")] = '\0';
	param = ssl->get_param(context);
	ssl->set_hostflags(param, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT |
				      X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
	good = is_address(host) ? ssl->set_address(param, host)
				: ssl->set_host(param, host, 0);
	return good == 1 ? CURLE_OK : CURLE_OUT_OF_MEMORY;
}

bool tls_name_check(const struct lib_curl *curl, CURL *easy, const struct url *url)
{
	const curl_version_info_data *info = curl->version_info(CURLVERSION_NOW);

	if (!info->ssl_version || strncmp(info->ssl_version, "OpenSSL/3", 9) != 0)
		return true;
	return curl->easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_context) ==
		   CURLE_OK &&
	       curl->easy_setopt(easy, CURLOPT_SSL_CTX_DATA, url) == CURLE_OK;
}
