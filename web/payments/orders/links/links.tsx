import { Ban, CircleCheck, Clock, Hourglass, Link2, type LucideIcon } from 'lucide-react'
import { useState } from 'react'
import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { type Meaning, Status } from '../../../design/parts/status.tsx'
import type { Column } from '../../../design/parts/table.tsx'
import { Link, useSearch } from '../../../shell/address.tsx'
import { useOnce } from '../../../shell/data/draft.ts'
import { problemOf } from '../../../shell/data/problems.ts'
import { Guard } from '../../../shell/frame/guard.tsx'
import { useRights } from '../../../shell/frame/rights.ts'
import { Page } from '../../../shell/page.tsx'
import { Confirm } from '../../../shell/parts/ask.tsx'
import { Listing, pageOf } from '../../../shell/parts/listing.tsx'
import { money } from '../../../shell/parts/money.ts'
import { Copyable } from '../../../shell/parts/secret.tsx'
import { useRead } from '../../../shell/read.ts'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { type CheckoutStatus, ClosePaymentLinkDocument, type PaymentLinkRowFragment, PaymentLinksDocument } from './links.generated.ts'

const looks: Readonly<Record<CheckoutStatus, readonly [Meaning, LucideIcon]>> = {
  OPEN: ['info', Clock],
  COMPLETED: ['positive', CircleCheck],
  EXPIRED: ['plain', Hourglass],
  CLOSED: ['plain', Ban],
}

/** Addresses on which orders are paid. A link is made at its order; here it is copied and closed. */
export default function Links() {
  return (
    <Page title={say('links.title')}>
      <Guard need="payments:payments.read">
        <List />
      </Guard>
    </Page>
  )
}

function List() {
  const search = useSearch()
  const { may } = useRights()
  const [closes, setCloses] = useState<PaymentLinkRowFragment | null>(null)
  const { data, state, problem, retry } = useRead(PaymentLinksDocument, pageOf(search), { isEmpty: ({ paymentLinks }) => paymentLinks?.nodes?.length === 0 })
  const rows = (data?.paymentLinks?.nodes ?? []).filter(each => each !== null)
  return (
    <>
      <Listing
        label={say('links.title')}
        path="/checkout-links"
        columns={columns(may('payments:payments.create') ? setCloses : null)}
        rows={rows}
        state={state}
        problem={problem}
        retry={retry}
        page={data?.paymentLinks?.pageInfo}
        total={data?.paymentLinks?.totalCount}
        attributes={each => ({ 'data-link': each.id })}
        empty={{ icon: Link2, sentence: say('links.empty') }}
      />
      {closes && <Close link={closes} onClose={() => setCloses(null)} />}
    </>
  )
}

function Close({ link, onClose }: { readonly link: PaymentLinkRowFragment; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [{ error, fetching }, close] = useMutation(ClosePaymentLinkDocument)
  async function act() {
    const { data } = await close({ input: { id: link.id, idempotencyKey } })
    if (data?.closePaymentLink) onClose()
  }
  return (
    <Confirm
      title={say('links.close')}
      sentence={say('links.close-sentence', { number: link.order?.number ?? '–' })}
      verb={say('links.close')}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void act()}
      onClose={onClose}
    />
  )
}

const columns = (close: ((link: PaymentLinkRowFragment) => void) | null): readonly Column<PaymentLinkRowFragment>[] => [
  {
    id: 'order',
    heading: say('orders.order'),
    isMain: true,
    cell: ({ order }) => (order ? <Link to={`/orders/${order.id}`}>{[order.number, order.description].filter(Boolean).join(' · ')}</Link> : '–'),
  },
  { id: 'total', heading: say('orders.total'), cell: ({ order }) => (order ? money(order.total) : '–') },
  {
    id: 'status',
    isKept: true,
    heading: say('orders.status'),
    cell: ({ status }) => (
      <Status meaning={looks[status][0]} icon={looks[status][1]}>
        {say(`link.${status}`)}
      </Status>
    ),
  },
  {
    id: 'until',
    heading: say('links.until'),
    cell: ({ expiresAt }) => (
      <time className="quiet" dateTime={expiresAt}>
        {moment(expiresAt)}
      </time>
    ),
  },
  { id: 'url', heading: say('links.address'), cell: ({ status, url }) => (status === 'OPEN' ? <Copyable text={url} isClipped /> : '–') },
  ...(close
    ? [
        {
          id: 'close',
          heading: say('links.close'),
          cell: (link: PaymentLinkRowFragment) =>
            link.status === 'OPEN' && (
              <Button
                kind="quiet"
                icon={Ban}
                name={say('action.of', { action: say('links.close'), name: link.order?.number ?? '' })}
                onPress={() => close(link)}
              />
            ),
        },
      ]
    : []),
]
