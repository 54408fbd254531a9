/**
 * A read must see what was inserted before it, but replicas copy from one another only after an insertion. So reads and
 * insertions use the same replica of each shard: the first in the cluster's definition that responds, even if another
 * is nearer. A replica that is more than a second behind, because it was down, is skipped.
 */
const SAME_REPLICA = [
  "load_balancing = 'in_order'",
  'prefer_localhost_replica = 0',
  'max_replica_delay_for_distributed_queries = 1',
]

/**
 * An event is deleted from the journal once it is inserted, so by then most replicas of its shard must have it. The
 * wait is shorter than the request timeout, so that the service learns why an insertion failed.
 */
const ON_MOST_REPLICAS = ["insert_quorum = 'auto'", 'insert_quorum_timeout = 20000']

/** Otherwise a distributed table queues rows itself and reports them as inserted. */
const SYNCHRONOUS_INSERT = 'distributed_foreground_insert = 1'

/** Otherwise rows are sent to the shards while later ones, which may turn out to be unreadable, are still being parsed. */
const NO_PARALLEL_PARSING = 'input_format_parallel_parsing = 0'

/** Additional settings of statements in a cluster; empty without one. */
export function clusterSettings(cluster: string | null | undefined): { read: string[]; insert: string[] } {
  if (!cluster) return { read: [], insert: [] }
  return { read: SAME_REPLICA, insert: [...SAME_REPLICA, ...ON_MOST_REPLICAS, SYNCHRONOUS_INSERT, NO_PARALLEL_PARSING] }
}
