import { formatNumber } from '../ui/format.ts'

/** The texts of the approvals page. */
export const text = {
  title: 'Approvals',
  description: 'Actions that agents propose wait here for a decision. Nothing is sent before it is approved.',
  none: 'Nothing to approve',
  noneHint: 'When an agent proposes an email or a message, you approve, edit or reject it here.',
  noneMatches: 'No waiting action matches these filters',
  showAll: 'Show all',
  pager: 'waiting actions',
  readOnly: 'Your role does not allow approving or rejecting actions.',
  notHere: 'The action of this link is not on this page: it may have been decided.',
  filters: {
    label: 'Filters',
    agent: 'Agent',
    anyAgent: 'All agents',
    kind: 'Kind of action',
    anyKind: 'All kinds',
  },
  list: {
    label: 'Waiting actions',
  },
  bulk: {
    label: 'Selection',
    nothingLeft: 'Nothing is left on this page',
    selectAll: (count: number) => `Select all ${count}`,
    selected: (count: number) => `${count} selected`,
    loadMore: 'All decided: load more',
    approve: 'Approve selected',
    reject: 'Reject selected',
    progress: (verb: 'approve' | 'reject', done: number, total: number) =>
      `${verb === 'approve' ? 'Approving' : 'Rejecting'}: ${formatNumber(done)} of ${formatNumber(total)} done`,
    notDecided: (verb: 'approve' | 'reject', count: number) =>
      `${formatNumber(count)} could not be ${verb === 'approve' ? 'approved' : 'rejected'}. The list says why.`,
  },
  undo: {
    label: 'Last decision',
    button: 'Undo',
    /** While there is time. */
    approved: (count: number, name: string) =>
      count === 1
        ? `Approved for ${name}. It executes in a few seconds.`
        : `${formatNumber(count)} approved. They execute in a few seconds.`,
    rejected: (count: number, name: string) =>
      count === 1 ? `Rejected for ${name}.` : `${formatNumber(count)} rejected.`,
    undone: (count: number) => {
      if (count === 0) return ''
      return count === 1 ? 'Undone: the action waits again.' : `Undone: ${formatNumber(count)} actions wait again.`
    },
    failed: (message: string) => `Not undone: ${message}`,
  },
  preview: {
    label: 'Preview',
    back: 'Back to the list',
    whyNow: 'Why now',
    noReason: 'The agent gave no reason.',
    lastSeen: 'Last seen ',
    neverSeen: 'Never seen on your site',
    visits: (count: number) => (count === 1 ? '1 visit' : `${formatNumber(count)} visits`),
    pageViews: (count: number) => (count === 1 ? '1 page view' : `${formatNumber(count)} page views`),
    loading: 'Loading what this person did',
    proposedBy: 'Proposed by ',
    forAgent: ' for the agent ',
    byAgent: 'the agent ',
    approve: 'Approve',
    edit: 'Edit',
    reject: 'Reject',
    blocked: 'An approval would fail. Solve the problem above first, or reject the action.',
    stillWaiting: 'The action is still waiting',
    gone: 'The action is no longer waiting',
    worksAs: (jobtitle: string | null, company: string | null) => [jobtitle, company].filter(Boolean).join(' at '),
    noSender: 'no sender: choose one for the agent',
  },
  outcome: {
    approving: 'Approving…',
    rejecting: 'Rejecting…',
    rejected: 'Rejected. It will not be executed.',
    held: 'Approved. It executes in a few seconds.',
    approved: 'Approved. It is being executed, and can no longer be undone.',
    approvedUntil: (at: string) => `Approved. It will be executed at ${at}.`,
    retried: (reason: string) => `Approved. The last attempt failed, and the service tries again: ${reason}`,
    executed: {
      email_message: 'Sent',
      social_message: 'Sent',
      social_connect: 'Sent',
      note: 'Added',
      crm_update: 'Updated',
    },
    executedTo: (done: string, recipient: string) => `${done} to ${recipient}.`,
    executedAlone: (done: string) => `${done}.`,
    failed: (type: string, name: string) => `${type} for ${name} failed`,
    failedWith: (reason: string) => `Failed: ${reason}`,
    refused: (reason: string) => `Still waiting: ${reason}`,
  },
  form: {
    subject: 'Subject',
    note: 'Note',
    message: 'Message',
    markdown: 'Markdown.',
    approve: 'Approve this version',
    cancel: 'Cancel',
    preview: 'Preview',
  },
  rejection: {
    title: (count: number) => (count > 1 ? `Reject ${count} actions?` : 'Reject this action?'),
    because: 'Reject because',
    reasons: ['Not now', 'Wrong person', 'We are already in contact', 'Wrong tone', 'Something in it is not true'],
    reason: 'Another reason',
    reasonHint: 'Optional. Reasons are stored in the audit log.',
    cancel: 'Cancel',
    confirm: (count: number) => (count > 1 ? `Reject ${count}` : 'Reject'),
  },
  noResult: 'The service returned no result for this action.',
  shortcuts: {
    next: 'Next action',
    previous: 'Previous action',
    approve: 'Approve it',
    edit: 'Edit it, then approve',
    reject: 'Reject it with a reason',
    select: 'Select it for a bulk decision',
    extendDown: 'Select the next one as well',
    extendUp: 'Select the previous one as well',
    undo: 'Undo the last decision',
  },
} as const
