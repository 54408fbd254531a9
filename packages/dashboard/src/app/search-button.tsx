import { ActionIcon, Kbd, Text, UnstyledButton } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { showOverlay } from '../ui/overlay.ts'
import classes from './search-button.module.css'
import { text } from './text.ts'

const open = () => showOverlay('palette')
const KEYS = /Mac|iPhone|iPad/.test(navigator.platform) ? text.palette.openKeysOnMac : text.palette.openKeys

/** Opens the command palette. */
export function SearchButton() {
  return (
    <UnstyledButton className={classes.button} onClick={open} aria-keyshortcuts="Control+K Meta+K">
      <IconSearch size={16} aria-hidden />
      <Text span size="sm" flex={1}>
        {text.palette.open}
      </Text>
      <Kbd size="xs" aria-hidden>
        {KEYS}
      </Kbd>
    </UnstyledButton>
  )
}

/** The same for the narrow header of a phone. */
export function SearchIcon() {
  return (
    <ActionIcon variant="subtle" color="gray" size="lg" ml="auto" onClick={open} aria-label={text.palette.open}>
      <IconSearch size={20} aria-hidden />
    </ActionIcon>
  )
}
