import { PasswordInput } from '@mantine/core'

const LENGTH_MIN = 10

interface NewPasswordProps {
  label?: string
  value: string
  onChange: (password: string) => void
}

/** The field for a password that is new. */
export function NewPassword({ label = 'Password', value, onChange }: NewPasswordProps) {
  return (
    <PasswordInput
      label={label}
      description={`At least ${LENGTH_MIN} characters; a few words make a good one.`}
      name="new-password"
      autoComplete="new-password"
      required
      withAsterisk={false}
      minLength={LENGTH_MIN}
      maxLength={256}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      visibilityToggleButtonProps={{ 'aria-label': 'Show the password', tabIndex: 0, 'aria-hidden': false }}
    />
  )
}
