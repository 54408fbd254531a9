import { jobQueue } from '../../platform/jobs/jobs.ts'

/**
 * Runs that wait for a process. A job covers a part of a run; when the run goes on, another follows it at the end of the
 * queue, so that a long run does not keep the others waiting. What a dead process leaves behind is queued again by the sweep.
 */
export const RUN_QUEUE = jobQueue<{ runId: string }>('agent-runs', {
  retryLimit: 10,
  retryDelay: 2,
  retryBackoff: true,
  retryDelayMax: 60,
  expireInSeconds: 3_600,
  retentionSeconds: 30 * 86_400,
  deleteAfterSeconds: 3_600,
})
