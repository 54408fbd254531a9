import { Button } from '@mantine/core'
import { IconKeyboard } from '@tabler/icons-react'
import { showOverlay } from './overlay.ts'
import { text } from './text.ts'

/** Lists the shortcuts of a page that is made for the keyboard. */
export function ShortcutsButton() {
  return (
    <Button
      variant="default"
      leftSection={<IconKeyboard size={16} aria-hidden />}
      onClick={() => showOverlay('shortcuts')}
      visibleFrom="sm"
    >
      {text.shortcuts}
    </Button>
  )
}
