import { Alert, Button, Divider, Stack, Text, TextInput } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { acceptInvitation, invitationQuery, meQuery, signInOptionsQuery, startOidc } from '../session/session.ts'
import { Form } from '../ui/form.tsx'
import { ErrorState, LoadingState } from '../ui/states.tsx'
import { upTo } from '../ui/up-to.ts'
import { EntryFrame } from './entry-frame.tsx'
import { NewPassword } from './new-password.tsx'
import { text } from './text.ts'
import { useEnter } from './use-enter.ts'

const route = getRouteApi('/invitation/$token')

/** Accepts an invitation with the signed-in account or with a new one. */
export function InvitationPage() {
  const { token } = route.useParams()
  const invitation = useQuery(invitationQuery(token))
  const me = useQuery({ ...meQuery, retry: false })
  if (invitation.isPending || me.isPending) {
    return (
      <EntryFrame title={text.invitation.title}>
        <LoadingState lines={3} />
      </EntryFrame>
    )
  }
  if (invitation.isError) {
    const isGone = invitation.error instanceof ApiError && invitation.error.status === 404
    return (
      <EntryFrame title={text.invitation.title}>
        {isGone ? (
          <Alert color="yellow">
            {text.invitation.gone.before}
            <Link to="/sign-in">{text.invitation.gone.link}</Link>
            {text.invitation.gone.after}
          </Alert>
        ) : (
          <ErrorState error={invitation.error} onRetry={() => invitation.refetch()} />
        )}
      </EntryFrame>
    )
  }
  const { email, tenant_name, role, proves_address } = invitation.data
  const isTheirs = me.data?.user.email.toLowerCase() === email.toLowerCase()
  return (
    <EntryFrame title={text.invitation.join(tenant_name)} description={text.invitation.description(role, email)}>
      {isTheirs && me.data?.user.email_verified ? (
        <JoinAsYourself token={token} />
      ) : (
        <CreateAccount token={token} email={email} provesAddress={proves_address} isSignedIn={isTheirs} />
      )}
    </EntryFrame>
  )
}

function JoinAsYourself({ token }: { token: string }) {
  const joining = useMutation({ mutationFn: () => acceptInvitation(token, {}), onSuccess: useEnter() })
  return (
    <Stack gap="md">
      {joining.isError ? <ErrorState error={joining.error} /> : null}
      <Button loading={joining.isPending} onClick={() => joining.mutate()} fullWidth>
        {text.invitation.submit}
      </Button>
    </Stack>
  )
}

interface CreateAccountProps {
  token: string
  email: string
  provesAddress: boolean
  /** Whether the reader is signed in with an account that only one workspace vouches for, which cannot join another. */
  isSignedIn: boolean
}

/** Looks the same whether or not the email has an account, because the reader may be the inviter. */
function CreateAccount({ token, email, provesAddress, isSignedIn }: CreateAccountProps) {
  const [name, setName] = useState('')
  const [password, setPassword] = useState('')
  const { data: options } = useQuery(signInOptionsQuery)
  const oidc = options?.oidc?.label
  const joining = useMutation({
    mutationFn: () => acceptInvitation(token, { name: name.trim(), ...(password === '' ? {} : { password }) }),
    onSuccess: useEnter(),
  })
  const leaving = useMutation({
    mutationFn: () => startOidc(`/invitation/${token}`),
    onSuccess: (url) => window.location.assign(url),
  })
  const error = joining.error ?? leaving.error
  const isPasswordOptional = oidc !== undefined && provesAddress
  return (
    <Stack gap="md">
      {error ? <ErrorState error={error} /> : null}
      {isSignedIn ? <Alert color="blue">{text.invitation.otherAccount}</Alert> : null}
      {oidc === undefined || provesAddress ? null : (
        <>
          <Button variant="default" fullWidth loading={leaving.isPending} onClick={() => leaving.mutate()}>
            {oidc}
          </Button>
          <Divider label={text.invitation.orPassword} />
        </>
      )}
      <Form onSubmit={() => joining.mutate()}>
        {/* Tells password managers which account the password belongs to. */}
        <input type="hidden" name="username" autoComplete="username" value={email} readOnly />
        <TextInput
          label={text.name}
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
          {...(isPasswordOptional ? { whenEmpty: text.invitation.orWithout(oidc) } : {})}
        />
        <Button type="submit" loading={joining.isPending} fullWidth>
          {text.invitation.submit}
        </Button>
      </Form>
      <Text size="sm">
        {text.invitation.hasAccount.before}
        <Link to="/sign-in" search={{ redirect: `/invitation/${token}` }}>
          {text.invitation.hasAccount.link}
        </Link>
        {text.invitation.hasAccount.after}
      </Text>
    </Stack>
  )
}
