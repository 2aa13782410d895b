import { LayoutDashboard } from 'lucide-react'
import { type Client, useSubscription } from 'urql'
import { useLaunch } from '../../shell/frame/launch.tsx'
import { Page } from '../../shell/page.tsx'
import { useRead } from '../../shell/read.ts'
import { Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { DashboardDocument, DashboardWidgetsDocument } from './dashboard.generated.ts'
import { WidgetCard } from './widget.tsx'

/** What the first look at the page reads. */
export const warm = (client: Client): void => void client.query(DashboardDocument, {}).toPromise()

/** The widgets of every app, which change by themselves: there is nothing to refresh. */
export default function Dashboard() {
  const { data, state, problem, retry } = useRead(DashboardDocument, {}, { isEmpty: ({ widgets }) => !widgets?.some(Boolean) })
  const { launch, refusal } = useLaunch()
  const widgets = (data?.widgets ?? []).filter(each => each !== null)
  return (
    <Page title={say('dashboard.title')}>
      <Changes />
      {widgets.length > 0 ? (
        <div className="widgets">
          {widgets.map(widget => (
            <WidgetCard key={widget.id} widget={widget} retry={retry} launch={launch} />
          ))}
        </div>
      ) : state === 'loading' ? (
        <div className="widgets">
          {['first', 'second', 'third', 'fourth', 'fifth'].map(each => (
            <Region key={each} className="widget" state="loading" lines={4} />
          ))}
        </div>
      ) : (
        <Region state={state} problem={problem} retry={retry} empty={{ icon: LayoutDashboard, sentence: say('dashboard.empty') }} />
      )}
      {refusal}
    </Page>
  )
}

/** Takes in what changes: each widget that comes replaces the one that was read, by its id. The page itself is not drawn again for it. */
function Changes() {
  useSubscription({ query: DashboardWidgetsDocument })
  return null
}
