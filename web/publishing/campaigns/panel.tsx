import { Archive, ArchiveRestore, Pencil, PenLine, Trash2, X } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../design/parts/button.tsx'
import { Icon } from '../../design/parts/icon.tsx'
import { Statistic, Statistics } from '../../design/parts/statistic.tsx'
import { toast } from '../../design/parts/toast.tsx'
import { goTo, Link } from '../../shell/address.tsx'
import { problemOf } from '../../shell/data/problems.ts'
import { Confirm } from '../../shell/parts/ask.tsx'
import { useRead } from '../../shell/read.ts'
import { Failure, Region } from '../../shell/region.tsx'
import { say } from '../../shell/words.ts'
import { networks } from '../brand/networks.ts'
import { PostStatus, PostTime } from '../posts/status.tsx'
import {
  ArchiveCampaignDocument,
  CampaignDetailDocument,
  type CampaignDetailQuery,
  DeleteCampaignDocument,
  RestoreCampaignDocument,
} from './campaigns.generated.ts'
import { CampaignForm } from './form.tsx'
import { spanOf } from './span.ts'

interface PanelProps {
  readonly id: string
  readonly zone: string | undefined
  readonly back: string
  readonly mayWrite: boolean
  reload(): void
}

/** One campaign: what it is, how far it is, and its posts. */
export function CampaignPanel({ id, zone, back, mayWrite, reload }: PanelProps) {
  const { data, state, problem, retry } = useRead(CampaignDetailDocument, { id })
  const campaign = data?.campaign
  const posts = (campaign?.posts?.nodes ?? []).flatMap(each => each ?? [])
  return (
    <Region
      className="panel"
      aria-label={say('campaigns.detail')}
      title={<h2 className="clip">{campaign?.name ?? say('campaigns.detail')}</h2>}
      tools={<Button kind="quiet" icon={X} name={say('action.close')} onPress={() => goTo(back)} />}
      state={data && !campaign ? 'error' : state}
      problem={problem}
      retry={retry}
    >
      {campaign && (
        <>
          <p className="quiet small">{spanOf(campaign)}</p>
          {campaign.description && (
            <p className="text" dir="auto">
              {campaign.description}
            </p>
          )}
          <Statistics>
            {(['draft', 'scheduled', 'published', 'failed'] as const).map(each => (
              <Statistic key={each} label={say(`post.${each.toUpperCase()}`)} value={String(campaign.counts[each])} />
            ))}
          </Statistics>
          {mayWrite && <Tools campaign={campaign} back={back} reload={reload} retry={retry} />}
          {posts.length === 0 ? (
            <p className="quiet">{say('campaigns.no-posts')}</p>
          ) : (
            <ul className="items">
              {posts.map(post => (
                <li key={post.id} data-post={post.id}>
                  <Link className="clip" to={`/posts/${post.id}`}>
                    {post.title || post.copy || say('posts.without-text')}
                  </Link>
                  <p className="small quiet">
                    <PostStatus post={post} /> {networks[post.platform]} <PostTime post={post} zone={zone} />
                  </p>
                </li>
              ))}
            </ul>
          )}
        </>
      )}
    </Region>
  )
}

type Campaign = NonNullable<CampaignDetailQuery['campaign']>

function Tools({ campaign, back, reload, retry }: Pick<PanelProps, 'back' | 'reload'> & { readonly campaign: Campaign; retry(): void }) {
  const [archived, archive] = useMutation(ArchiveCampaignDocument)
  const [restored, restore] = useMutation(RestoreCampaignDocument)
  const [deleted, drop] = useMutation(DeleteCampaignDocument)
  const [asks, setAsks] = useState<'edit' | 'delete' | null>(null)
  const problem = problemOf(archived.error ?? restored.error ?? deleted.error)
  const input = { id: campaign.id, expectedVersion: campaign.version }
  const after = (answer: { readonly error?: unknown }, sentence: string, leaves = false) => {
    if (answer.error) return
    toast({ sentence })
    reload()
    if (leaves) goTo(back)
    else retry()
  }
  return (
    <>
      <div className="actions">
        {!campaign.archivedAt && (
          <>
            <Link className="button secondary" to={`/compose?campaign=${campaign.id}`}>
              <Icon of={PenLine} />
              {say('posts.compose')}
            </Link>
            <Button icon={Pencil} onPress={() => setAsks('edit')}>
              {say('campaigns.edit')}
            </Button>
            <Button
              icon={Archive}
              isDisabled={archived.fetching}
              onPress={() => void archive({ input }).then(each => after(each, say('campaigns.was-archived')))}
            >
              {say('campaigns.archive')}
            </Button>
          </>
        )}
        {campaign.archivedAt && (
          <Button
            icon={ArchiveRestore}
            isDisabled={restored.fetching}
            onPress={() => void restore({ input }).then(each => after(each, say('campaigns.was-restored')))}
          >
            {say('campaigns.restore')}
          </Button>
        )}
        <Button kind="quiet" icon={Trash2} onPress={() => setAsks('delete')}>
          {say('campaigns.delete')}
        </Button>
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'edit' && (
        <CampaignForm
          brandId={campaign.brandId}
          campaign={campaign}
          onClose={() => setAsks(null)}
          onDone={() => {
            setAsks(null)
            reload()
          }}
        />
      )}
      {asks === 'delete' && (
        <Confirm
          title={say('campaigns.delete')}
          sentence={say('campaigns.delete-sure', { name: campaign.name })}
          verb={say('campaigns.delete')}
          isBusy={deleted.fetching}
          onClose={() => setAsks(null)}
          onConfirm={() => {
            setAsks(null)
            void drop({ input }).then(each => after(each, say('campaigns.was-deleted'), true))
          }}
        />
      )}
    </>
  )
}
