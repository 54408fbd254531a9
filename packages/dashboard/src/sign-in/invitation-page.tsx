import { Alert, Button, Stack, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { type FormEvent, useState } from 'react'
import { ApiError } from '../api/client.ts'
import { acceptInvitation, invitationQuery, meQuery, signInOptionsQuery } from '../api/session.ts'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { EntryFrame } from './entry-frame.tsx'
import { NewPassword } from './new-password.tsx'
import { useEnter } from './use-enter.ts'

const route = getRouteApi('/invitation/$token')

/** Somebody follows the link of an invitation: they join as who they are, or make an account. */
export function InvitationPage() {
  const { token } = route.useParams()
  const invitation = useQuery(invitationQuery(token))
  const me = useQuery({ ...meQuery, retry: false })
  if (invitation.isPending || me.isPending) {
    return (
      <EntryFrame title="Your invitation">
        <LoadingState lines={3} />
      </EntryFrame>
    )
  }
  if (invitation.isError) {
    const isGone = invitation.error instanceof ApiError && invitation.error.status === 404
    return (
      <EntryFrame title="Your invitation">
        {isGone ? (
          <Alert color="yellow">
            This invitation has been used, withdrawn or is too old. Ask for a new one, or{' '}
            <Link to="/sign-in">sign in</Link> when you have an account.
          </Alert>
        ) : (
          <ErrorState error={invitation.error} onRetry={() => invitation.refetch()} />
        )}
      </EntryFrame>
    )
  }
  const { email, tenant_name, role, proves_address } = invitation.data
  const isTheirs = me.data?.user.email.toLowerCase() === email.toLowerCase()
  // Whoever made an account that is not verified may be another: it starts anew, with a new password.
  const isKept = isTheirs && (me.data?.user.email_verified === true || !proves_address)
  return (
    <EntryFrame title={`Join ${tenant_name}`} description={`You are invited as ${role}, with the address ${email}.`}>
      <Accept token={token} email={email} isSignedIn={isKept} />
    </EntryFrame>
  )
}

function Accept({ token, email, isSignedIn }: { token: string; email: string; isSignedIn: boolean }) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { data: options } = useQuery(signInOptionsQuery)
  const oidc = options?.oidc?.label
  const enter = useEnter()
  const joining = useMutation({
    mutationFn: () =>
      acceptInvitation(token, isSignedIn ? {} : { name: name.trim(), ...(password === '' ? {} : { password }) }),
    onSuccess: enter,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    joining.mutate()
  }
  return (
    <Stack component="form" gap="md" onSubmit={submit}>
      {joining.isError ? <ErrorState error={joining.error} /> : null}
      {isSignedIn ? null : (
        <>
          {/* So that a password manager knows whose password it keeps. */}
          <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
          <TextInput
            label="Your name"
            name="name"
            autoComplete="name"
            required
            withAsterisk={false}
            {...upTo(200)}
            value={name}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <NewPassword
            value={password}
            onChange={setPassword}
            {...(oidc === undefined ? {} : { whenEmpty: `Or leave it empty, and sign in with ${oidc}.` })}
          />
        </>
      )}
      <Button type="submit" loading={joining.isPending} fullWidth>
        Join
      </Button>
      {isSignedIn ? null : (
        <span>
          Have an account with this address already?{' '}
          <Link to="/sign-in" search={{ redirect: `/invitation/${token}` }}>
            Sign in first
          </Link>
        </span>
      )}
    </Stack>
  )
}
