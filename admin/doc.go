// Package admin serves the HTTP port and the admin socket of a process: health,
// metrics, who-am-I and the API under /api/v1 that openapi.yaml describes. The
// same TCP port serves RESP: a connection whose first byte is '*' goes to
// Config.RESP, as HTTP never starts so.
//
// Server is the main type. New checks a Config, Serve and ServeSocket run until
// Shutdown, which stops and waits for every goroutine the server started. All
// methods may be called from any goroutine. What a request needs comes in
// through interfaces and functions declared here (UserStore, Config); they are
// called concurrently, one goroutine for each connection.
//
// Everything is bounded: connections, connections that have said nothing yet,
// headers, bodies, and the time of each step; see Limits. A connection over a
// bound is refused and counted. Logins are bounded by Config.Authenticate, which
// is expected to answer users.ErrBusy when too many run at once.
//
// Who may do what: a connection through the admin socket is the owner of the
// data directory and may do everything. Without users, so may local callers, and
// remote ones nothing but ask for health. With users, Basic login is required,
// and the roles decide. Browsers cannot be made to call across origins.
//
// The package does not keep users, check passwords, know the storage or read
// configuration, and it does no TLS.
package admin
