import { formatNumber } from '../ui/format.ts'

/** The texts of an agent's outcomes, as a part of `text`. */
export const outcomesText = {
  outcomes: {
    title: 'Outcomes',
    description: 'What became of what the agent proposed, for each version of its instructions.',
    open: 'Outcomes',
    period: 'Proposed in',
    periods: { all: 'All time', '90': 'Last 90 days', '30': 'Last 30 days' },
    noGoal: 'This agent has no goal. Set one to see how many messages lead to it, such as to a booked demo.',
    setGoal: 'Set a goal',
    version: (version: number) => `Version ${formatNumber(version)}`,
    current: 'Current',
    since: (from: string) => `Since ${from}`,
    between: (from: string, to: string) => `${from} to ${to}`,
    nothing: 'Nothing was proposed with it.',
    proposed: 'Proposed',
    waiting: (count: number) => `${formatNumber(count)} waiting`,
    approved: 'Approved',
    unasked: (count: number) => `${formatNumber(count)} without asking`,
    edited: (count: number) => `${formatNumber(count)} edited`,
    failed: (count: number) => `${formatNumber(count)} failed`,
    sent: 'Sent',
    replied: 'Answered',
    goalReached: (event: string) => `Then: ${event}`,
    unsubscribed: 'Unsubscribed',
    rejected: 'Rejected',
    stopped: (count: number) => `${formatNumber(count)} by a guardrail`,
    ofSent: (percent: number) => `${formatNumber(percent)}% of sent`,
    open14: (count: number, days: number) =>
      count === 1
        ? `1 message is less than ${days} days old. Its answer may still come.`
        : `${formatNumber(count)} messages are less than ${days} days old. Their answers may still come.`,
    within: (days: number) =>
      `Answers, goals and opt-outs count for ${days} days after each message. Notes and property updates are not messages.`,
    showText: 'Show the instructions',
    showChange: (before: number) => `Show what changed since version ${formatNumber(before)}`,
    hide: 'Hide',
    changeLabel: (version: number) => `Instructions of version ${formatNumber(version)}`,
    removed: 'Removed: ',
    added: 'Added: ',
    unchanged: (lines: number) => (lines === 1 ? '1 line is the same' : `${formatNumber(lines)} lines are the same`),
    noChange: 'The instructions are the same. The template was replaced by its own text.',
    template: (name: string) => `Template: ${name}`,
    part: { variables: 'Variables', messages: 'Messages', config: 'Settings' },
  },
} as const
