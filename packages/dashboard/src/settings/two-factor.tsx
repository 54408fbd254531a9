import {
  Alert,
  Badge,
  Button,
  Code,
  Group,
  Modal,
  PasswordInput,
  SimpleGrid,
  Stack,
  Text,
  TextInput,
} from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { beginTwoFactor, endTwoFactor, newBackupCodes, refreshMe } from '../api/account.ts'
import { verifyCode } from '../api/session.ts'
import { codeMessage } from '../sign-in/code-form.tsx'
import { CopyButton } from '../ui/copy-button.tsx'
import { QrImage } from '../ui/qr-image.tsx'
import { messageOf } from '../ui/states.tsx'
import { SettingsPart } from './settings-part.tsx'

type Step =
  | { kind: 'begin' | 'end' | 'renew' }
  | { kind: 'scan'; address: string; codes: string[] }
  | { kind: 'codes'; codes: string[] }

const TITLES: Record<Step['kind'], string> = {
  begin: 'Turn on the second factor',
  end: 'Turn off the second factor',
  renew: 'New backup codes',
  scan: 'Set up your authenticator',
  codes: 'Your backup codes',
}

/** Turns the second factor on and off and renews the backup codes. Each step requires the password. */
export function TwoFactor({ isOn }: { isOn: boolean }) {
  const queryClient = useQueryClient()
  const [step, setStep] = useState<Step | null>(null)
  const close = () => setStep(null)
  const refresh = () => refreshMe(queryClient)
  // A click outside must not close the dialog before the codes are saved.
  const isShown = step?.kind === 'codes'
  return (
    <SettingsPart
      title={
        <Group gap="xs">Second factor {isOn ? <Badge color="green">on</Badge> : <Badge color="gray">off</Badge>}</Group>
      }
    >
      <Text size="sm">
        {isOn
          ? 'After your password, you enter a code from your authenticator.'
          : 'Signing in requires a code from an authenticator app in addition to your password.'}
      </Text>
      <Group gap="xs">
        {isOn ? (
          <>
            <Button variant="default" onClick={() => setStep({ kind: 'renew' })}>
              New backup codes
            </Button>
            <Button variant="default" onClick={() => setStep({ kind: 'end' })}>
              Turn off
            </Button>
          </>
        ) : (
          <Button onClick={() => setStep({ kind: 'begin' })}>Set up</Button>
        )}
      </Group>
      <Modal
        opened={step !== null}
        onClose={close}
        title={step ? TITLES[step.kind] : ''}
        closeOnClickOutside={!isShown}
        closeOnEscape={!isShown}
        withCloseButton={!isShown}
      >
        {step?.kind === 'begin' ? (
          <PasswordStep
            confirmLabel="Continue"
            onPassword={async (password) => {
              const { totpURI, backupCodes } = await beginTwoFactor(password)
              setStep({ kind: 'scan', address: totpURI, codes: backupCodes })
            }}
          />
        ) : null}
        {step?.kind === 'scan' ? (
          <ScanStep
            address={step.address}
            onVerified={async () => {
              setStep({ kind: 'codes', codes: step.codes })
              await refresh()
            }}
          />
        ) : null}
        {step?.kind === 'codes' ? <BackupCodes codes={step.codes} onDone={close} /> : null}
        {step?.kind === 'renew' ? (
          <PasswordStep
            explanation="Your current codes stop working."
            confirmLabel="Create new codes"
            onPassword={async (password) => {
              const { backupCodes } = await newBackupCodes(password)
              setStep({ kind: 'codes', codes: backupCodes })
            }}
          />
        ) : null}
        {step?.kind === 'end' ? (
          <PasswordStep
            explanation="You will sign in with your password alone, and your backup codes stop working."
            confirmLabel="Turn off"
            isDangerous
            onPassword={async (password) => {
              await endTwoFactor(password)
              await refresh()
              close()
            }}
          />
        ) : null}
      </Modal>
    </SettingsPart>
  )
}

interface PasswordStepProps {
  explanation?: string
  confirmLabel: string
  isDangerous?: boolean
  onPassword: (password: string) => Promise<void>
}

function PasswordStep({ explanation, confirmLabel, isDangerous = false, onPassword }: PasswordStepProps) {
  const [password, setPassword] = useState('')
  const going = useMutation({ mutationFn: () => onPassword(password) })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    going.mutate()
  }
  return (
    <Stack component="form" gap="md" onSubmit={submit}>
      {explanation === undefined ? null : <Text size="sm">{explanation}</Text>}
      <PasswordInput
        label="Your password"
        autoComplete="current-password"
        required
        withAsterisk={false}
        data-autofocus
        value={password}
        onChange={(event) => setPassword(event.currentTarget.value)}
        visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0, 'aria-hidden': false }}
      />
      {going.isError ? (
        <Alert color="red" role="alert">
          {messageOf(going.error)}
        </Alert>
      ) : null}
      <Button type="submit" ml="auto" loading={going.isPending} {...(isDangerous ? { color: 'red' } : {})}>
        {confirmLabel}
      </Button>
    </Stack>
  )
}

function ScanStep({ address, onVerified }: { address: string; onVerified: () => Promise<void> }) {
  const [code, setCode] = useState('')
  const checking = useMutation({
    mutationFn: () => verifyCode(code.replaceAll(' ', ''), 'totp'),
    onSuccess: onVerified,
  })
  const submit = (event: FormEvent) => {
    event.preventDefault()
    checking.mutate()
  }
  const secret = new URL(address).searchParams.get('secret') ?? ''
  return (
    <Stack component="form" gap="md" onSubmit={submit}>
      <Text size="sm">Scan this with your authenticator app, or type the secret into it.</Text>
      <Stack align="center">
        <QrImage text={address} label="QR code for the authenticator" />
      </Stack>
      <Stack gap={4}>
        <Text size="sm" c="dimmed">
          Secret
        </Text>
        <Group gap="xs" wrap="nowrap">
          <Code style={{ overflowWrap: 'anywhere' }}>{secret.replaceAll(/(.{4})(?=.)/g, '$1 ')}</Code>
          <CopyButton value={secret} label="secret" />
        </Group>
        <Group gap="xs">
          <Text size="sm" c="dimmed">
            Or as an address (otpauth)
          </Text>
          <CopyButton value={address} label="otpauth address" />
        </Group>
      </Stack>
      <TextInput
        label="Code from the app"
        required
        withAsterisk={false}
        autoComplete="one-time-code"
        inputMode="numeric"
        autoFocus
        value={code}
        onChange={(event) => setCode(event.currentTarget.value)}
      />
      {checking.isError ? (
        <Alert color="red" role="alert">
          {codeMessage(checking.error)}
        </Alert>
      ) : null}
      <Button type="submit" ml="auto" loading={checking.isPending}>
        Turn on
      </Button>
    </Stack>
  )
}

function BackupCodes({ codes, onDone }: { codes: string[]; onDone: () => void }) {
  return (
    <Stack gap="md">
      <Text size="sm" role="status">
        Save these now: they are not shown again. Each lets you in once when your authenticator is lost.
      </Text>
      <SimpleGrid cols={2} spacing="xs" verticalSpacing="xs" component="ul" m={0} p={0}>
        {codes.map((code) => (
          <Code component="li" key={code} display="block" ta="center" py={6}>
            {code}
          </Code>
        ))}
      </SimpleGrid>
      <Group justify="space-between">
        <CopyButton value={codes.join('\n')} label="backup codes" withText />
        <Button onClick={onDone} autoFocus>
          I have saved them
        </Button>
      </Group>
    </Stack>
  )
}
