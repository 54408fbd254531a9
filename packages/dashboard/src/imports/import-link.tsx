import { Button } from '@mantine/core'
import { IconUpload } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import { text } from './text.ts'

/** Opens the imports from the contacts. */
export function ImportLink() {
  return (
    <Button
      variant="default"
      leftSection={<IconUpload size={16} aria-hidden />}
      renderRoot={(props) => <Link to="/imports" {...props} />}
    >
      {text.importLink}
    </Button>
  )
}
