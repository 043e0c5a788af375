package exec

// families lists the commands that are built, a map for each family.
func families() []map[string]Func {
	return []map[string]Func{stringFamily, bitmapFamily, keyFamily, scanFamily, expireFamily, objectFamily}
}

var stringFamily = map[string]Func{
	"get":         get,
	"set":         set,
	"setnx":       setNX,
	"setex":       setEX,
	"psetex":      setEX,
	"getset":      getSet,
	"getdel":      getDel,
	"getex":       getEX,
	"mget":        mget,
	"mset":        mset,
	"msetnx":      msetNX,
	"append":      appendTo,
	"strlen":      strlen,
	"setrange":    setRange,
	"getrange":    getRange,
	"substr":      getRange,
	"incr":        incr,
	"decr":        decr,
	"incrby":      incrBy,
	"decrby":      decrBy,
	"incrbyfloat": incrByFloat,
	"lcs":         lcs,
}

var bitmapFamily = map[string]Func{
	"setbit":   setBit,
	"getbit":   getBit,
	"bitcount": bitCount,
	"bitpos":   bitPos,
	"bitop":    bitOp,
}

var keyFamily = map[string]Func{
	"del":      del,
	"unlink":   del,
	"exists":   exists,
	"touch":    exists,
	"type":     typeOf,
	"rename":   rename,
	"renamenx": rename,
	"copy":     copyTo,
	"move":     move,
	"dump":     dump,
	"restore":  restore,
}

var scanFamily = map[string]Func{
	"keys":      keys,
	"scan":      scan,
	"randomkey": randomKey,
	"dbsize":    dbSize,
	"flushdb":   flushDB,
	"flushall":  flushAll,
}

var expireFamily = map[string]Func{
	"expire":      expire,
	"pexpire":     expire,
	"expireat":    expire,
	"pexpireat":   expire,
	"ttl":         ttl,
	"pttl":        ttl,
	"expiretime":  ttl,
	"pexpiretime": ttl,
	"persist":     persist,
}

var objectFamily = map[string]Func{
	"object|encoding": objectEncoding,
	"object|refcount": objectRefcount,
	"object|freq":     objectFreq,
	"object|idletime": objectIdleTime,
	"object|help":     objectHelp,
}
