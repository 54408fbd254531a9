import { formatMoment } from '../ui/format.ts'

/** The texts about closing a workspace. */
export const text = {
  settings: {
    title: 'Close workspace',
    explanation:
      'Everything stops at once: keys, tracking, forms, webhooks, imports, agents and mail. After 7 days, everything in the workspace is deleted. Until then, an owner can reopen it.',
    exportFirst: 'Export the data first',
    close: 'Close workspace',
    confirmTitle: 'Close this workspace?',
    confirm:
      'Only owners can open it then. After 7 days, its contacts, events, settings and files are deleted, which cannot be undone. Backups, and what was sent to other systems, remain.',
  },
  closed: {
    title: 'This workspace is closed',
    forOwner: (name: string, at: string) =>
      `${name} will be deleted on ${formatMoment(at)}. Nothing in it works until you reopen it.`,
    forOthers: (name: string, at: string) =>
      `${name} will be deleted on ${formatMoment(at)}. Ask one of its owners to reopen it.`,
    reopen: 'Reopen workspace',
    export: 'Export all data',
    exporting: (percent: number) => `Export in progress, ${percent}%`,
    exportLabel: 'Progress of the export',
    exportFailed: 'The export failed. Request another one.',
    download: 'Download the export',
    deleteNow: 'Delete now',
    deleteTitle: 'Delete this workspace now?',
    deleteExplanation:
      'Its contacts, events, settings and files are deleted at once. This cannot be undone. Backups, and what was sent to other systems, remain.',
    others: 'Your other workspaces',
    signOut: 'Sign out',
  },
}
