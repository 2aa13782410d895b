import { MessagesSquare, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from '../../design/parts/button.tsx'
import type { Column } from '../../design/parts/table.tsx'
import { goTo, Link, usePath, useSearch, withSearch } from '../../shell/address.tsx'
import { Guard } from '../../shell/frame/guard.tsx'
import { useRights } from '../../shell/frame/rights.ts'
import { Page } from '../../shell/page.tsx'
import { Listing, pageOf } from '../../shell/parts/listing.tsx'
import { useRead } from '../../shell/read.ts'
import { lately } from '../../shell/time.ts'
import { say } from '../../shell/words.ts'
import { type ConversationRowFragment, ConversationsDocument } from './conversations.generated.ts'
import { NewConversation } from './new.tsx'
import { ConversationPanel } from './thread.tsx'

/** What people and agents said to each other; the conversation that the path names is open beside the list. */
export default function Conversations() {
  const search = useSearch()
  const { may } = useRights()
  const create = may('agents:runs.invoke') && may('agents:agents.read') && (
    <Button kind="primary" icon={Plus} onPress={() => goTo(withSearch('/conversations', search, { new: 'conversation' }))}>
      {say('conversations.create')}
    </Button>
  )
  return (
    <Page title={say('conversations.title')} actions={create}>
      <Guard need={may('agents:runs.invoke') ? 'agents:runs.invoke' : 'agents:agents.read'}>
        <List create={create} />
      </Guard>
    </Page>
  )
}

function List({ create }: { readonly create: ReactNode }) {
  const [path, search] = [usePath(), useSearch()]
  const id = /^\/conversations\/([^/]+)$/.exec(path)?.[1]
  const { data, state, problem, retry } = useRead(ConversationsDocument, pageOf(search), {
    isEmpty: ({ conversations }) => conversations?.nodes?.length === 0,
  })
  const rows = (data?.conversations?.nodes ?? []).filter(each => each !== null)
  return (
    <div className={id ? 'beside open even' : 'beside'}>
      <div className="stack">
        <Listing
          label={say('conversations.title')}
          path="/conversations"
          columns={columns(search)}
          rows={rows}
          current={id}
          state={state}
          problem={problem}
          retry={retry}
          page={data?.conversations?.pageInfo}
          total={data?.conversations?.totalCount}
          attributes={each => ({ 'data-conversation': each.id })}
          empty={{ icon: MessagesSquare, sentence: say('conversations.empty'), action: create }}
        />
      </div>
      {id && <ConversationPanel key={id} id={id} back={withSearch('/conversations', search, {})} />}
      {search.get('new') === 'conversation' && create && (
        <NewConversation reload={retry} onClose={() => goTo(withSearch('/conversations', search, { new: null }))} />
      )}
    </div>
  )
}

const columns = (search: URLSearchParams): readonly Column<ConversationRowFragment>[] => [
  {
    id: 'title',
    heading: say('conversations.one'),
    isMain: true,
    cell: ({ id, title }) => <Link to={withSearch(`/conversations/${id}`, search, { new: null })}>{title}</Link>,
  },
  { id: 'agent', heading: say('agents.one'), cell: ({ agent }) => agent?.name ?? '–' },
  { id: 'by', heading: say('conversations.by'), cell: ({ createdBy }) => createdBy?.name ?? say('actor.other') },
  {
    id: 'at',
    heading: say('conversations.begun'),
    cell: ({ createdAt }) => (
      <time className="quiet" dateTime={createdAt}>
        {lately(createdAt)}
      </time>
    ),
  },
]
