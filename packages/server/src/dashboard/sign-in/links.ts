/** Page of the dashboard where a person chooses a new password. */
export function passwordLink(publicUrl: string, token: string): string {
  return `${publicUrl}/reset-password?token=${encodeURIComponent(token)}`
}

/** Page of the dashboard that asks for the code of the second factor, and then leads on. */
export function codePage(target: string): string {
  return `/sign-in?step=code&redirect=${encodeURIComponent(target)}`
}

/** Page of the dashboard where a person accepts an invitation. */
export function invitationLink(publicUrl: string, token: string): string {
  return `${publicUrl}/invitation/${encodeURIComponent(token)}`
}
