/**
 * A read must see what was inserted before it, but replicas copy from one another only after an insertion. So reads and
 * insertions ask the same replica of each shard: the first in the cluster's definition that answers, even where another
 * is nearer. A replica that is more than a second behind, because it was away, is passed over.
 */
const SAME_REPLICA = [
  "load_balancing = 'in_order'",
  'prefer_localhost_replica = 0',
  'max_replica_delay_for_distributed_queries = 1',
]

/**
 * An event leaves the journal once it is inserted, so by then most replicas of its shard must have it. The service waits
 * for less long than for the answer itself, so that it hears why an insertion failed.
 */
const ON_MOST_REPLICAS = ["insert_quorum = 'auto'", 'insert_quorum_timeout = 20000']

/** A distributed table would otherwise keep rows in a queue of its own and call them inserted. */
const READABLE_AT_ONCE = 'distributed_foreground_insert = 1'

/** Rows would otherwise be sent to the shards while later ones are still being read, and may turn out to be unreadable. */
const READ_WHOLE = 'input_format_parallel_parsing = 0'

/** What statements need in a cluster beside their own settings; nothing without one. */
export function clusterSettings(cluster: string | null | undefined): { read: string[]; insert: string[] } {
  if (!cluster) return { read: [], insert: [] }
  return { read: SAME_REPLICA, insert: [...SAME_REPLICA, ...ON_MOST_REPLICAS, READABLE_AT_ONCE, READ_WHOLE] }
}
