import type { Client } from 'urql'
import { Page } from '../../shell/page.tsx'
import { Figures } from '../../shell/parts/widget.tsx'
import { useRead } from '../../shell/read.ts'
import { say } from '../../shell/words.ts'
import { ProvidersOverviewDocument } from './overview.generated.ts'

/** What the first look at the page reads. */
export const warm = (client: Client): void => void client.query(ProvidersOverviewDocument, {}).toPromise()

/** How the organization's calls of providers go. */
export default function Overview() {
  const { data, state, problem, retry } = useRead(ProvidersOverviewDocument, {})
  return (
    <Page title={say('overview.title')}>
      <Figures payload={data?.providersWidget} state={data && !data.providersWidget ? 'error' : state} problem={problem} retry={retry} />
    </Page>
  )
}
