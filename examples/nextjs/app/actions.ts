'use server'

import { cookies } from 'next/headers'
import { redirect } from 'next/navigation'
import { customerData, openTracker } from './customer-data.ts'

/** Links the visitor to the person: what they did before is theirs from now on. */
export async function signIn(form: FormData): Promise<void> {
  const email = String(form.get('email'))
  const visitor = (await cookies()).get('service_visitor_id')?.value
  const { contact_id } = await customerData().identify({ email, ...(visitor ? { visitor_id: visitor } : {}) })
  const tracker = openTracker()
  tracker.track({ event: 'signed_in', contact_id })
  // A function that has answered may be stopped, so what waits is sent before.
  await tracker.close()
  redirect(`/welcome?email=${encodeURIComponent(email)}`)
}
