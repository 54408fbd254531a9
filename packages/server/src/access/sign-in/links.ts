/** Page of the dashboard where a person chooses a new password. */
export function passwordLink(publicUrl: string, token: string): string {
  return `${publicUrl}/reset-password?token=${encodeURIComponent(token)}`
}

/** Page of the dashboard where the first person sets the service up. The token is in the fragment, which no server logs. */
export function setupLink(publicUrl: string, token: string): string {
  return `${publicUrl}/setup#token=${encodeURIComponent(token)}`
}

/** Page of the dashboard that asks for the second-factor code and then continues. */
export function codePage(target: string): string {
  return `/sign-in?step=code&redirect=${encodeURIComponent(target)}`
}

/** Page of the dashboard where a person accepts an invitation. */
export function invitationLink(publicUrl: string, token: string): string {
  return `${publicUrl}/invitation/${encodeURIComponent(token)}`
}
