import { ApiError } from '../api/client.ts'
import { AnchorLink } from './link.tsx'
import { messageOf } from './states.tsx'
import { text } from './text.ts'

/** An error, with a link to the conflicting record if there is one. */
export function Problem({ error }: { error: unknown }) {
  const details = error instanceof ApiError && error.status === 409 ? error.details : []
  const idOf = (name: string) => details.find(({ path }) => path === name)?.message
  const contactId = idOf('contact_id')
  const companyId = idOf('company_id')
  return (
    <>
      {messageOf(error)}
      {contactId || companyId ? ' ' : null}
      {contactId ? (
        <AnchorLink inherit underline="always" to="/contacts/$contactId" params={{ contactId }}>
          {text.states.open}
        </AnchorLink>
      ) : null}
      {companyId ? (
        <AnchorLink inherit underline="always" to="/companies/$companyId" params={{ companyId }}>
          {text.states.open}
        </AnchorLink>
      ) : null}
    </>
  )
}
