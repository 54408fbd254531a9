/** The texts of the pages before the dashboard, by page. */
export const text = {
  title: (page: string) => `${page} · Customer Data`,
  email: 'Email',
  password: 'Password',
  showPassword: 'Show password',
  passwordLength: (min: number) => `At least ${min} characters. A few words work well.`,
  name: 'Your name',
  back: 'Back',
  signOut: 'Sign out',

  signIn: {
    title: 'Sign in',
    submit: 'Sign in',
    or: 'or',
    wrong: 'The email or the password is incorrect.',
    several: 'Several accounts have this email and password. Choose a workspace.',
  },

  code: {
    title: 'Enter your code',
    description: 'Your account uses two-factor authentication.',
    totp: 'Code from your authenticator app',
    backup: 'Backup code',
    submit: 'Continue',
    useBackup: 'Use a backup code',
    useTotp: 'Use your authenticator app',
    wrong: 'The code is wrong, expired or already used. Wait for the next one.',
  },

  forgotten: {
    open: 'Forgot your password?',
    askOperator: 'Ask the operator of this service for a reset link. They create it on the command line.',
    explanation: 'Enter your email above, and we send you a link to set a new password.',
    send: 'Send link',
    sent: 'If there is an account with this email, we have sent the link.',
  },

  reset: {
    title: 'Choose a new password',
    submit: 'Set password',
    done: { before: 'Your new password is set. ', link: 'Sign in', after: ' with it.' },
  },

  invitation: {
    title: 'Your invitation',
    gone: {
      before: 'This invitation was used or deleted, or has expired. Ask for a new one, or ',
      link: 'sign in',
      after: ' if you have an account.',
    },
    join: (workspace: string) => `Join ${workspace}`,
    description: (role: string, email: string) => `You are invited with the email ${email}. Your role: ${role}.`,
    submit: 'Join',
    otherAccount:
      'Your account works only in the workspace where it was created. Create another one for this workspace.',
    orPassword: 'or with a password',
    orWithout: (provider: string) => `Or leave it empty, and sign in with ${provider}.`,
    hasAccount: {
      before: 'Do you already have an account with this email? ',
      link: 'Sign in first',
      after: ' to keep one account for all your workspaces.',
    },
  },

  workspace: {
    title: 'Choose a workspace',
    none: 'You no longer belong to a workspace. Ask an owner or an admin for an invitation.',
  },

  setup: {
    title: 'Welcome',
    description: "This service has no accounts yet. Create the owner's account.",
    workspace: 'Workspace name',
    workspaceDescription: 'Usually the name of your company. You can change it later.',
    submit: 'Create account',
    linkNeeded: {
      title: 'Open the setup link',
      description:
        'This service has no accounts yet. Create the first one with the link that only its operator can read.',
      where: 'The service printed the link on its console when it started: ',
      line: 'Create the first account at …',
      lost: 'If you cannot find it, restart the service: it prints the same link again. Or create the account on the command line with ',
      createTenant: 'npx cdsctl tenant create',
      and: ' and ',
      createUser: 'npx cdsctl user create',
      end: '.',
    },
  },
}
