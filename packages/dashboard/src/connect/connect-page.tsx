import { Card, Group, SimpleGrid, Text, Title } from '@mantine/core'
import { IconBug } from '@tabler/icons-react'
import { AnchorLink, ButtonLink } from '../ui/link.tsx'
import { PageHeader } from '../ui/page-header.tsx'
import classes from './connect.module.css'
import { KINDS, type KindName } from './kinds.ts'
import { Light } from './light.tsx'
import { text } from './text.ts'

/** Everything that can be connected, and whether it is. */
export function ConnectPage() {
  return (
    <>
      <PageHeader
        title={text.title}
        description={text.description}
        actions={
          <ButtonLink variant="default" leftSection={<IconBug size={16} aria-hidden />} to="/connect/debugger">
            {text.debugger.title}
          </ButtonLink>
        }
      />
      <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }} spacing="md">
        {(Object.keys(KINDS) as KindName[]).map((kind) => (
          <Tile key={kind} kind={kind} />
        ))}
      </SimpleGrid>
    </>
  )
}

function Tile({ kind }: { kind: KindName }) {
  const { icon: Icon, proof } = KINDS[kind]
  const hasLight = proof.by !== 'tracker' || proof.isShownInList
  const { title, description } = text.kinds[kind]
  return (
    <Card className={classes.tile}>
      <Group gap="sm" wrap="nowrap" mb={4}>
        <Icon size={22} stroke={1.6} aria-hidden />
        <Title order={2} size="h5">
          <AnchorLink inherit c="inherit" className={classes.open} to="/connect/$kind" params={{ kind }}>
            {title}
          </AnchorLink>
        </Title>
      </Group>
      <Text size="sm" c="dimmed" mb="sm">
        {description}
      </Text>
      {hasLight ? <Light proof={proof} /> : null}
    </Card>
  )
}
