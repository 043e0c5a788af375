package admin

import (
	"container/list"
	"net"
)

// waiting is the connections that have said nothing yet, in order of arrival.
// Whoever uses it holds the lock that guards it.
type waiting struct{ order *list.List }

// waiter is the place of one connection.
type waiter = list.Element

func newWaiting() waiting { return waiting{list.New()} }

func (w waiting) add(c net.Conn) *waiter { return w.order.PushBack(c) }
func (w waiting) remove(e *waiter)       { w.order.Remove(e) }
func (w waiting) len() int               { return w.order.Len() }

// oldest takes out the connection that has waited longest.
func (w waiting) oldest() net.Conn {
	return w.order.Remove(w.order.Front()).(net.Conn)
}

func (w waiting) each(do func(net.Conn)) {
	for e := w.order.Front(); e != nil; e = e.Next() {
		do(e.Value.(net.Conn))
	}
}
