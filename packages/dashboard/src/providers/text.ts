/** The texts for signing in at other services. */
export const text = {
  connect: (label: string) => `Connect ${label}`,
  notStarted: 'The sign-in could not start',
  client: {
    title: (label: string) => `OAuth client for ${label}`,
    explanation: (label: string) =>
      `This workspace signs in at ${label} with your own application. Register one at ${label} with this redirect URL, then enter its client ID and client secret.`,
    guide: 'How to register it',
    redirect: 'Redirect URL',
    copy: 'redirect URL',
    id: 'Client ID',
    secret: 'Client secret',
    secretHint: 'Stored encrypted and never shown again.',
    show: 'Show the client secret',
    save: 'Save',
    saveAndSignIn: 'Save and sign in',
  },
  clients: {
    title: 'OAuth clients',
    description: 'The applications that this workspace uses to sign in at other services.',
    provider: 'Service',
    clientId: 'Client ID',
    none: 'none',
    ofOperator: 'provided by the operator',
    changed: 'Changed',
    actions: 'Actions',
    set: (label: string) => `Set for ${label}`,
    change: (label: string) => `Change for ${label}`,
    setShort: 'Set',
    changeShort: 'Change',
    delete: 'Delete',
    deleteOf: (label: string) => `Delete the client for ${label}`,
    deleteTitle: (label: string) => `Delete the OAuth client for ${label}?`,
    deleteExplanation:
      'Every sign-in made with it stops working, usually within an hour. If you store the same client again, they work again.',
    deleteConfirm: 'Delete client',
  },
  authorized: {
    title: 'Completing the sign-in',
    failed: 'The sign-in was not completed',
    empty: 'There is no sign-in to complete. Start one where you need it, for example on a sender’s page.',
    back: 'Go back',
    elsewhere:
      'If the sign-in was started on the command line or with an API key, complete it there. On the command line:',
    copy: 'command',
  },
}
