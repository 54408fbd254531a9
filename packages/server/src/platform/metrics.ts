import { Counter, Gauge, Histogram, Registry } from 'prom-client'
import type { ConcurrencyCounts } from './concurrency-limit.ts'
import type { ReadLanes } from './read-lanes.ts'

/** The state of a connection pool, as in pg's pool. */
interface PoolState {
  totalCount: number
  idleCount: number
  waitingCount: number
}

/** The state of the projection of events to ClickHouse, from the projector. */
interface ProjectionState {
  waiting: number
  setAside: number
  failures: number
}

/** The metrics at /metrics, in Prometheus format. Each service has its own registry, so that tests can run several. */
export type Metrics = ReturnType<typeof createMetrics>

export function createMetrics(pool: PoolState, reads: Pick<ReadLanes, 'lanes'>, projection: () => ProjectionState) {
  const registry = new Registry()
  const registers = [registry]
  measureReads(registry, reads)
  measureProjection(registry, projection)
  return {
    registry,
    requestSeconds: new Histogram({
      name: 'cds_http_request_duration_seconds',
      help: 'Time from the request to the end of the response, by named route.',
      labelNames: ['route', 'method', 'status'],
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
      registers,
    }),
    eventsAccepted: new Counter({
      name: 'cds_events_accepted_total',
      help: 'Events that were accepted and are durable.',
      registers,
    }),
    eventsRepeated: new Counter({
      name: 'cds_events_repeated_total',
      help: 'Events that were already recorded and were not recorded again.',
      registers,
    }),
    eventsRejected: new Counter({
      name: 'cds_track_requests_rejected_total',
      help: 'Requests to the collector that were rejected, by error code.',
      labelNames: ['code'],
      registers,
    }),
    journalFlushSeconds: new Histogram({
      name: 'cds_journal_flush_duration_seconds',
      help: 'Time of one group commit.',
      buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1],
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'cds_webhook_attempts_total',
      help: 'Attempts to deliver to a webhook, by outcome.',
      labelNames: ['outcome'],
      registers,
    }),
    poolConnections: new Gauge({
      name: 'cds_postgres_pool_connections',
      help: 'PostgreSQL connections of this process, by state.',
      labelNames: ['state'],
      registers,
      collect() {
        this.set({ state: 'open' }, pool.totalCount)
        this.set({ state: 'idle' }, pool.idleCount)
        this.set({ state: 'waited_for' }, pool.waitingCount)
      },
    }),
  }
}

function measureProjection(registry: Registry, state: () => ProjectionState): void {
  const measure = (Kind: typeof Gauge | typeof Counter, name: string, help: string, key: keyof ProjectionState) =>
    new Kind({
      name,
      help,
      registers: [registry],
      collect() {
        this.reset()
        this.inc(state()[key])
      },
    })
  measure(Gauge, 'cds_journal_rows', 'Journal rows that are not yet in ClickHouse.', 'waiting')
  const help = 'Events that ClickHouse cannot store. cdsctl doctor lists them with their reasons.'
  measure(Gauge, 'cds_events_set_aside', help, 'setAside')
  const failures = 'Failed attempts to write events to ClickHouse, which are retried.'
  measure(Counter, 'cds_projection_failures_total', failures, 'failures')
}

/** Waiting and running reads by lane. */
function measureReads(registry: Registry, { lanes }: Pick<ReadLanes, 'lanes'>): void {
  const ofLanes = Object.entries(lanes)
  const measure = (Kind: typeof Gauge | typeof Counter, name: string, help: string, count: keyof ConcurrencyCounts) =>
    new Kind({
      name,
      help,
      labelNames: ['lane'],
      registers: [registry],
      collect() {
        this.reset()
        for (const [lane, limit] of ofLanes) this.inc({ lane }, limit.counts()[count])
      },
    })
  measure(Gauge, 'cds_reads_running', 'Reads that are running, by lane.', 'running')
  measure(Gauge, 'cds_reads_waiting', 'Reads that are waiting, by lane.', 'waiting')
  measure(Counter, 'cds_reads_total', 'Reads that have started, by lane.', 'started')
  measure(
    Counter,
    'cds_reads_refused_total',
    'Reads that were refused or whose client disconnected, by lane.',
    'refused',
  )
  measure(Counter, 'cds_reads_waited_seconds_total', 'Total time that reads waited, by lane.', 'waitedSeconds')
}
