#pragma once

#include <string>
#include <string_view>

#include "net/http_server.h"
#include "page_files/page_files.h"

// The answers of the page, each with the headers that keep it apart from other pages.
namespace strata::page {

// A document of the interface, which is never kept by a cache.
[[nodiscard]] net::HttpResponse JsonResponse(std::string json);
// A Kubernetes Status. `reason` is "NotFound" and so on.
[[nodiscard]] net::HttpResponse ErrorResponse(int code,
                                              std::string_view reason,
                                              const std::string& message);
// For what the HTTP server itself refuses.
[[nodiscard]] net::HttpResponse Refusal(int code);
// One of the embedded files, compressed as it is.
[[nodiscard]] net::HttpResponse FileResponse(const page_files::PageFile& file);
// The file of a path, "/" being index.html; nullptr when there is none.
[[nodiscard]] const page_files::PageFile* FindPageFile(std::string_view path);
// The head of the stream.
[[nodiscard]] net::HttpResponse StreamHead();

// Compresses long bodies for clients that take that, and answers.
void Send(net::Exchange& exchange, net::HttpResponse response);

}  // namespace strata::page
