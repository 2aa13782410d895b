import { useMutation } from 'urql'
import { Button } from '../../../design/parts/button.tsx'
import { Dialog } from '../../../design/parts/dialog.tsx'
import { useOnce } from '../../../shell/data/draft.ts'
import { problemOf } from '../../../shell/data/problems.ts'
import { Confirm } from '../../../shell/parts/ask.tsx'
import { money } from '../../../shell/parts/money.ts'
import { Copyable } from '../../../shell/parts/secret.tsx'
import { moment } from '../../../shell/time.ts'
import { say } from '../../../shell/words.ts'
import { CreatePaymentLinkDocument } from './links.generated.ts'

interface PayableOrder {
  readonly id: string
  readonly number: string
  readonly due: { readonly amountMinor: string | number; readonly currency: string }
}

/** Makes an address on which an order is paid, and shows it to be sent to the payer. */
export function PaymentLinkDialog({ order, reload, onClose }: { readonly order: PayableOrder; reload(): void; onClose(): void }) {
  const idempotencyKey = useOnce()
  const [{ data, error, fetching }, create] = useMutation(CreatePaymentLinkDocument)
  const link = data?.createPaymentLink
  const [amount, number] = [money(order.due), order.number]
  if (link)
    return (
      <Dialog title={say('links.made')} onClose={onClose}>
        <p>{say('links.made-sentence', { amount, number, when: moment(link.expiresAt) })}</p>
        <Copyable text={link.url} />
        <div className="actions">
          <Button kind="primary" onPress={onClose}>
            {say('action.close')}
          </Button>
        </div>
      </Dialog>
    )
  return (
    <Confirm
      title={say('links.create')}
      sentence={say('links.create-sentence', { amount, number })}
      verb={say('links.create')}
      isDanger={false}
      isBusy={fetching}
      problem={problemOf(error)}
      onConfirm={() => void create({ input: { orderId: order.id, idempotencyKey } }).then(reload)}
      onClose={onClose}
    />
  )
}
