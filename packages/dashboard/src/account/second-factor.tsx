import { Alert, Badge, Button, Group, Modal, Stack, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { newBackupCodes, prepareSecondFactor, removeSecondFactor, type SecondFactor } from '../api/account.ts'
import { meQuery } from '../api/session.ts'
import { BackupCodes } from './backup-codes.tsx'
import { PasswordDialog } from './password-dialog.tsx'
import { SetUpAuthenticator } from './set-up-authenticator.tsx'

/** Whether a code of an authenticator is asked for beside the password. */
export function SecondFactorSettings({ isOn }: { isOn: boolean }) {
  const queryClient = useQueryClient()
  const [prepared, setPrepared] = useState<SecondFactor | null>(null)
  const [codes, setCodes] = useState<string[] | null>(null)
  const refresh = () => queryClient.invalidateQueries({ queryKey: meQuery.queryKey })
  return (
    <Stack gap="sm" align="flex-start">
      <Group gap="xs">
        <Badge color={isOn ? 'green' : 'gray'}>{isOn ? 'On' : 'Off'}</Badge>
        <Text size="sm">
          {isOn
            ? 'A code of your authenticator is asked for when you sign in.'
            : 'Protect your account with a code of an authenticator, beside your password.'}
        </Text>
      </Group>
      {isOn ? (
        <Group gap="xs">
          <PasswordDialog
            label="New recovery codes"
            title="Make new recovery codes"
            explanation="The codes that you have are worth nothing then."
            onConfirm={async (password) => setCodes((await newBackupCodes(password)).backupCodes)}
          />
          <PasswordDialog
            label="Turn off"
            title="Turn the second factor off"
            explanation="Your password alone is enough to sign in then."
            onConfirm={async (password) => {
              await removeSecondFactor(password)
              await refresh()
            }}
          />
        </Group>
      ) : (
        <PasswordDialog
          label="Turn on"
          title="Turn the second factor on"
          explanation="Have an authenticator at hand, on your phone or in your password manager."
          onConfirm={async (password) => setPrepared(await prepareSecondFactor(password))}
        />
      )}
      <Modal opened={prepared !== null} onClose={() => setPrepared(null)} title="Add the account to your authenticator">
        {prepared ? (
          <SetUpAuthenticator
            totpUri={prepared.totpURI}
            onDone={async () => {
              setCodes(prepared.backupCodes)
              setPrepared(null)
              await refresh()
            }}
          />
        ) : null}
      </Modal>
      <Modal opened={codes !== null} onClose={() => setCodes(null)} title="Your recovery codes">
        {codes ? <BackupCodes codes={codes} /> : null}
        <Alert color="yellow" mt="md">
          They are shown only now. Each of them lets you in once when your authenticator is lost.
        </Alert>
        <Group justify="flex-end" mt="md">
          <Button onClick={() => setCodes(null)}>I have kept them</Button>
        </Group>
      </Modal>
    </Stack>
  )
}
