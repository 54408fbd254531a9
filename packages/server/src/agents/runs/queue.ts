import { jobQueue } from '../../platform/jobs/jobs.ts'
import { DAY_SECONDS, HOUR_SECONDS } from '../../platform/time.ts'

/**
 * The jobs that work on runs. A job does a part of a run; if more is left, another job follows at the end of the queue, so
 * that a long run does not delay the others. The sweep queues the runs of dead processes again.
 */
export const RUN_QUEUE = jobQueue<{ runId: string }>('agent-runs', {
  retryLimit: 10,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: HOUR_SECONDS,
  retentionSeconds: 30 * DAY_SECONDS,
  deleteAfterSeconds: HOUR_SECONDS,
})
