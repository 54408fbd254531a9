import { formatNumber } from '../ui/format.ts'

/** What happened to records, by the status that the service counts. */
const STATUSES: Readonly<Record<string, string>> = {
  created: 'created',
  updated: 'updated',
  unchanged: 'unchanged',
  deleted: 'deleted',
  merged: 'merged',
  accepted: 'recorded',
  recorded: 'recorded',
  known: 'already here',
  ignored: 'left out',
  failed: 'failed',
}

/** The texts of connected systems, by page. */
export const text = {
  title: 'Connected systems',
  states: {
    waiting: 'waiting',
    pulling: 'reading',
    failed: 'failing',
    signed_out: 'signed out',
    paused: 'paused',
  },
  statuses: STATUSES,
  count: (count: number, status: string) => `${formatNumber(count)} ${STATUSES[status] ?? status.replaceAll('_', ' ')}`,
  nothing: 'nothing changed',
  now: 'now',
  cancel: 'Cancel',

  list: {
    description: 'Systems whose contacts, companies, events and conversations are read into this workspace.',
    create: 'Connect a system',
    empty: 'No connected systems yet',
    emptyExplanation:
      'Connect your CRM, your product analytics or your help desk. Their data is read once, and kept in step from then on.',
    system: 'System',
    account: 'Account',
    state: 'State',
    lastRun: 'Last run',
    nextPull: 'Next pull',
    counts: 'Changed',
    failed: 'Failed',
  },

  choice: {
    title: 'Connect a system',
    description: 'Choose what to read.',
    reads: (objects: readonly string[]) => `Reads ${objects.map((name) => name.replaceAll('_', ' ')).join(', ')}.`,
  },

  create: {
    title: (label: string) => `Connect ${label}`,
    signIn: (label: string) => `Sign in at ${label}`,
    signInTitle: 'Sign in there',
    signInHint: (label: string) => `${label} asks you what this workspace may read, and leads back here.`,
    credentialsTitle: 'Or enter credentials',
    settingsTitle: 'Settings',
    source: 'Source',
    sourceHint:
      'The name under which it writes. Give another account another name, also after you deleted a connection.',
    start: 'Read',
    starts: { everything: 'Everything', since: 'Only what changed since a day' },
    since: 'Since',
    submit: 'Connect',
    failed: 'The system was not connected',
    stored: (description: string) => `${description} Stored encrypted, and never shown again.`,
    show: (label: string) => `Show: ${label}`,
    default: 'Default',
    unknown: 'There is no such system.',
  },

  one: {
    title: 'Connected system',
    account: 'Account',
    source: 'Source',
    connected: 'Connected',
    nextPull: 'Next pull',
    lastRun: 'Last run',
    writesBack: 'Writes there',
    writesWaiting: 'Contacts that wait to be written',
    writeError: 'Writing fails',
    failedTitle: 'The last pull failed',
    repeated: (ago: string) => `It is tried again ${ago}.`,
    signedOutTitle: 'The sign-in is no longer valid',
    signedOut: 'Nothing is read until you sign in again. Then it continues where it stopped.',
    signInAgain: 'Sign in again',
    pausedTitle: 'Paused',
    paused: 'Nothing is read until you resume it. Then it continues where it stopped.',
    askAdmin: 'Only admins can change this. Ask one of them.',
  },

  objects: {
    title: 'Progress',
    object: 'Read',
    until: 'Read until',
    notYet: 'not yet',
    reading: 'reading now',
    refused: 'refused',
    counts: 'In the latest run',
  },

  runs: {
    title: 'Runs',
    started: 'Started',
    took: 'Took',
    notComplete: 'not complete',
    moment: 'less than 1 s',
    counts: 'Records',
    empty: 'No runs yet',
    emptyExplanation: 'The first begins within seconds after a system is connected.',
  },

  errors: {
    title: 'Records that failed',
    description: 'The others were written. The last 1,000 are kept.',
    at: 'When',
    object: 'Kind',
    id: 'ID there',
    reason: 'Reason',
    empty: 'No record failed',
    emptyExplanation: 'Records that cannot be written, such as one with a value that is too long, are listed here.',
  },

  actions: {
    pull: 'Pull now',
    pause: 'Pause',
    resume: 'Resume',
    more: 'More',
    reread: 'Read again',
    edit: 'Change credentials or settings',
    remove: 'Delete',
    removeTitle: (label: string) => `Delete the connection to ${label}?`,
    removeExplanation:
      'It is no longer read, and its credentials and the list of its runs are deleted. Contacts, companies, events and conversations that it wrote stay. You cannot undo this.',
    removeConfirm: 'Delete connection',
  },

  reread: {
    title: 'Read again',
    explanation:
      'Everything that changed there since a day is read again, for example after you added a property. What is already here is not doubled.',
    since: 'Since',
    sinceHint: 'Leave it empty to read everything.',
    submit: 'Read again',
  },

  writeBack: {
    title: (label: string) => `Write to ${label}`,
    explanation: (label: string) =>
      `When one of these properties of a contact changes here, the new value is written to ${label}, usually within seconds. The rule says what happens if ${label} has a different value.`,
    property: (number: number) => `Property ${number}`,
    choose: 'Choose a property',
    target: (label: string, number: number) => `Field ${number} in ${label}`,
    targetPlaceholder: (label: string) => `Field in ${label}`,
    conflict: (number: number) => `If the values differ ${number}`,
    conflicts: (label: string) => ({
      newest: 'Latest change wins',
      ours: 'Our value wins',
      theirs: `Only fill blanks in ${label}`,
    }),
    add: 'Add a property',
    remove: (number: number) => `Remove property ${number}`,
    createMissing: (label: string) => `Create contacts that ${label} does not have`,
    createMissingHint: 'Only contacts with an email address.',
  },

  edit: {
    title: (label: string) => `Credentials and settings of ${label}`,
    explanation:
      'They are tried before they are stored. With other settings, everything is read again. Connect another account on its own, under another source.',
    submit: 'Save changes',
  },
}
