import { Anchor } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { ApiError } from '../api/client.ts'
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
      {messageOf(error)}{' '}
      {contactId ? (
        <Anchor
          inherit
          underline="always"
          renderRoot={(props) => <Link to="/contacts/$contactId" params={{ contactId }} {...props} />}
        >
          {text.states.open}
        </Anchor>
      ) : null}
      {companyId ? (
        <Anchor
          inherit
          underline="always"
          renderRoot={(props) => <Link to="/companies/$companyId" params={{ companyId }} {...props} />}
        >
          {text.states.open}
        </Anchor>
      ) : null}
    </>
  )
}
