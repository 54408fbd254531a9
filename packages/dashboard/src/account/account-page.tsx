import { Card, Stack, Text, Title } from '@mantine/core'
import type { ReactNode } from 'react'
import { signOutElsewhere } from '../api/account.ts'
import { useIsAtLeast, useMe } from '../app/may.ts'
import { ConfirmButton } from '../ui/confirm-button.tsx'
import { Facts } from '../ui/facts.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { Foreign } from '../ui/text.tsx'
import { ChangePassword } from './change-password.tsx'
import { NewTenant } from './new-tenant.tsx'
import { SecondFactorSettings } from './second-factor.tsx'

/** The account of the person who is signed in: how they sign in, and where they are. */
export function AccountPage() {
  const { user, role, tenant } = useMe()
  const isOwner = useIsAtLeast('owner')
  return (
    <>
      <PageHeader title="Your account" />
      <Stack gap="md" maw={640}>
        <Section title="You">
          <Facts
            facts={[
              ['Name', <Foreign key="name">{user.name || '–'}</Foreign>],
              ['E-mail', <Foreign key="email">{user.email}</Foreign>],
              [
                'Role',
                <span key="role">
                  {role} of <Foreign>{tenant.name}</Foreign>
                </span>,
              ],
            ]}
          />
        </Section>
        {user.has_password ? (
          <>
            <Section title="Password">
              <ChangePassword />
            </Section>
            <Section title="Second factor">
              <SecondFactorSettings isOn={user.two_factor_enabled} />
            </Section>
          </>
        ) : null}
        <Section title="Other devices">
          <Stack align="flex-start" gap="sm">
            <Text size="sm">Forgotten to sign out somewhere? End every session but this one.</Text>
            <ConfirmButton
              title="Sign out everywhere else?"
              explanation="Whoever uses your account on another device has to sign in again."
              confirmLabel="Sign out elsewhere"
              onConfirm={signOutElsewhere}
            >
              Sign out everywhere else
            </ConfirmButton>
          </Stack>
        </Section>
        {isOwner ? (
          <Section title="Another tenant">
            <NewTenant />
          </Section>
        ) : null}
      </Stack>
    </>
  )
}

function Section({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Card component="section" aria-label={title}>
      <Title order={2} size="h5" mb="sm">
        {title}
      </Title>
      {children}
    </Card>
  )
}
