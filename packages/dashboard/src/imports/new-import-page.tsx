import { Alert, Button, Card, Group, Progress, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { AnchorLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import { messageOf } from '../ui/states.tsx'
import { Foreign } from '../ui/text.tsx'
import { DropZone } from './drop-zone.tsx'
import { showImport, uploadImport } from './import-queries.ts'
import { ImportSteps } from './import-steps.tsx'
import { text } from './text.ts'

/** The first step of an import: uploads a file. */
export function NewImportPage() {
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [share, setShare] = useState(0)
  const [isWrong, setIsWrong] = useState(false)
  const controller = useRef<AbortController | null>(null)
  // Leaving the page ends the upload.
  useEffect(() => () => controller.current?.abort(), [])
  const uploading = useMutation({
    mutationFn: (file: File) => {
      controller.current = new AbortController()
      setShare(0)
      return uploadImport(file, setShare, controller.current.signal)
    },
    onSuccess: async (uploaded) => {
      await showImport(queryClient, uploaded)
      const params = { importId: uploaded.import.import_id }
      await navigate({ to: '/imports/$importId', params, search: { step: 'mapping' } })
    },
  })
  const upload = (files: File[]) => {
    const [file, ...others] = files
    setIsWrong(file === undefined || others.length > 0)
    if (file && others.length === 0) uploading.mutate(file)
  }
  const isCancelled = uploading.error instanceof DOMException && uploading.error.name === 'AbortError'
  const error = isWrong ? text.file.tooMany : uploading.isError && !isCancelled ? messageOf(uploading.error) : null
  return (
    <>
      <PageHeader
        title={text.file.title}
        description={text.file.description}
        breadcrumb={
          <AnchorLink inherit to="/imports">
            {text.imports}
          </AnchorLink>
        }
      />
      <ImportSteps step="file" />
      <Stack maw={820}>
        {error === null ? null : (
          <Alert color="red" role="alert" title={text.file.problem}>
            <Foreign max={1_000}>{error}</Foreign>
          </Alert>
        )}
        {uploading.isPending ? (
          <Uploading name={uploading.variables.name} share={share} onCancel={() => controller.current?.abort()} />
        ) : (
          <DropZone onFiles={upload} />
        )}
      </Stack>
    </>
  )
}

function Uploading({ name, share, onCancel }: { name: string; share: number; onCancel: () => void }) {
  const percent = Math.floor(share * 100)
  return (
    <Card>
      <Stack gap="xs" role="status">
        <Group justify="space-between" wrap="nowrap">
          <Text fw={550} miw={0}>
            <Foreign max={120}>{text.file.uploading(name)}</Foreign>
          </Text>
          <Text size="sm" c="dimmed" flex="none">
            {percent >= 100 ? text.file.checking : text.file.percent(percent)}
          </Text>
        </Group>
        <Progress value={percent} aria-label={text.file.progress} animated={percent >= 100} />
        <div>
          <Button variant="default" size="xs" onClick={onCancel}>
            {text.file.cancel}
          </Button>
        </div>
      </Stack>
    </Card>
  )
}
