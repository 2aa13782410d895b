import { Archive, ArchiveRestore, ArrowRightLeft, Pause, Play } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Dialog } from '../../../design/parts/dialog.tsx'
import { Select } from '../../../design/parts/select.tsx'
import { toast } from '../../../design/parts/toast.tsx'
import { problemOf } from '../../../shell/data/problems.ts'
import { useRights } from '../../../shell/frame/rights.ts'
import { Confirm } from '../../../shell/parts/ask.tsx'
import { Failure } from '../../../shell/region.tsx'
import { say } from '../../../shell/words.ts'
import {
  ArchiveBrandDocument,
  type BrandDetailQuery,
  PauseBrandDocument,
  RestoreBrandDocument,
  ResumeBrandDocument,
  TransferBrandDocument,
} from './brands.generated.ts'

export type BrandDetail = NonNullable<BrandDetailQuery['brand']>

interface StateProps {
  readonly brand: BrandDetail
  /** Those of which the person is a member. */
  readonly organizations: readonly { readonly id: string; readonly name: string }[]
  onDone(): void
  /** It belongs to another organization now. */
  onGone(): void
}

/** Pauses a brand, takes it out of use, gives it to another organization, and back. */
export function BrandState({ brand, organizations, onDone, onGone }: StateProps) {
  const [paused, pause] = useMutation(PauseBrandDocument)
  const [resumed, resume] = useMutation(ResumeBrandDocument)
  const [archived, archive] = useMutation(ArchiveBrandDocument)
  const [restored, restore] = useMutation(RestoreBrandDocument)
  const [asks, setAsks] = useState<'pause' | 'resume' | 'archive' | 'transfer' | null>(null)
  const { roles } = useRights()
  const problem = problemOf(paused.error ?? resumed.error ?? archived.error ?? restored.error)
  const input = { id: brand.id, expectedVersion: brand.version }
  const others = organizations.filter(({ id }) => id !== brand.organizationId)
  const mayTransfer = others.length > 0 && roles.some(role => role === 'OWNER' || role === 'ADMIN')
  const after = (answer: { readonly error?: unknown }, sentence: string) => {
    setAsks(null)
    if (answer.error) return
    toast({ sentence })
    onDone()
  }
  return (
    <>
      <div className="actions">
        {!brand.archivedAt && (
          <>
            <Button icon={brand.pausedAt ? Play : Pause} onPress={() => setAsks(brand.pausedAt ? 'resume' : 'pause')}>
              {say(brand.pausedAt ? 'brands.resume' : 'brands.pause')}
            </Button>
            <Button icon={Archive} onPress={() => setAsks('archive')}>
              {say('brands.archive')}
            </Button>
            {mayTransfer && (
              <Button kind="quiet" icon={ArrowRightLeft} onPress={() => setAsks('transfer')}>
                {say('brands.transfer')}
              </Button>
            )}
          </>
        )}
        {brand.archivedAt && (
          <Button
            icon={ArchiveRestore}
            isDisabled={restored.fetching}
            onPress={() => void restore({ input }).then(each => after(each, say('brands.was-restored')))}
          >
            {say('brands.restore')}
          </Button>
        )}
      </div>
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      {asks === 'pause' && (
        <Confirm
          title={say('brands.pause')}
          sentence={say('brands.pause-sure', { name: brand.name })}
          verb={say('brands.pause')}
          isDanger={false}
          isBusy={paused.fetching}
          onClose={() => setAsks(null)}
          onConfirm={() => void pause({ input }).then(each => after(each, say('brands.was-paused')))}
        />
      )}
      {asks === 'archive' && (
        <Confirm
          title={say('brands.archive')}
          sentence={say('brands.archive-sure', { name: brand.name })}
          verb={say('brands.archive')}
          isBusy={archived.fetching}
          onClose={() => setAsks(null)}
          onConfirm={() => void archive({ input }).then(each => after(each, say('brands.was-archived')))}
        />
      )}
      {asks === 'resume' && (
        <Dialog title={say('brands.resume')} onClose={() => setAsks(null)}>
          <p>{say('brands.resume-sure')}</p>
          <div className="actions">
            <Button onPress={() => setAsks(null)}>{say('action.cancel')}</Button>
            {(['REVERT', 'SEND'] as const).map(overdue => (
              <Button
                key={overdue}
                kind={overdue === 'SEND' ? 'primary' : 'secondary'}
                isDisabled={resumed.fetching}
                onPress={() => void resume({ input: { ...input, overdue } }).then(each => after(each, say('brands.was-resumed')))}
              >
                {say(`brands.overdue-${overdue}`)}
              </Button>
            ))}
          </div>
        </Dialog>
      )}
      {asks === 'transfer' && <Transfer brand={brand} others={others} onClose={() => setAsks(null)} onGone={onGone} />}
    </>
  )
}

function Transfer({
  brand,
  others,
  onClose,
  onGone,
}: Pick<StateProps, 'brand' | 'onGone'> & { readonly others: StateProps['organizations']; onClose(): void }) {
  const [{ error, fetching }, transfer] = useMutation(TransferBrandDocument)
  const [organizationId, setOrganizationId] = useState(others[0]!.id)
  const problem = problemOf(error)
  const accounts = (brand.connections ?? []).flatMap(each => each?.accountName ?? [])
  async function send() {
    const { data } = await transfer({ input: { id: brand.id, organizationId, expectedVersion: brand.version } })
    if (!data?.transferBrand) return
    toast({ sentence: say('brands.was-transferred', { name: brand.name }) })
    onClose()
    onGone()
  }
  return (
    <Dialog title={say('brands.transfer')} isAlert onClose={onClose}>
      <Select label={say('brands.organization')} choices={others} value={organizationId} onChange={setOrganizationId} />
      <p>{say('brands.transfer-sure', { name: brand.name })}</p>
      {accounts.length > 0 && <p className="quiet small">{say('brands.transfer-accounts', { accounts: accounts.join(', ') })}</p>}
      {problem && <Failure sentence={problem.sentence} requestId={problem.requestId} />}
      <div className="actions">
        <Button onPress={onClose}>{say('action.cancel')}</Button>
        <Button kind="danger" isDisabled={fetching} onPress={() => void send()}>
          {say('brands.transfer')}
        </Button>
      </div>
    </Dialog>
  )
}
