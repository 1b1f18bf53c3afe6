import { useRef } from 'react';
import { useLanguage } from '../../language/language.tsx';
import { CheckField, LinesField } from '../../parts/field.tsx';
import type { Form } from '../../parts/form.tsx';
import { CertificateCheck } from './certificate-check.tsx';
import type { HostValues } from './host-values.ts';

/** Larger files are no certificates. */
const largestFile = 256 * 1024;

/** The certificate and its key: pasted, dropped, or from files of the visitor's machine. */
export function CertificateFields({ form, hasCertificate }: { readonly form: Form<keyof HostValues>; readonly hasCertificate: boolean }) {
  const { t } = useLanguage();
  const { labels, hints, chooseFiles } = t.hosts.form;
  const chooser = useRef<HTMLInputElement>(null);

  async function read(files: Iterable<File>): Promise<void> {
    for (const file of files) {
      if (file.size > largestFile) continue;
      const text = await file.text();
      form.set(/-----BEGIN [A-Z ]*PRIVATE KEY-----/.test(text) ? 'privateKey' : 'certificate', text);
    }
  }

  return (
    <div
      className='stack'
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        if (event.dataTransfer.files.length === 0) return;
        event.preventDefault();
        void read(event.dataTransfer.files);
      }}
    >
      <div className='grid-2'>
        <LinesField
          form={form}
          name='certificate'
          label={labels.certificate}
          hint={hasCertificate ? hints.keptCertificate : hints.certificate}
          rows={4}
          placeholder='-----BEGIN CERTIFICATE-----'
          isOptional
        />
        <LinesField
          form={form}
          name='privateKey'
          label={labels.privateKey}
          hint={hints.privateKey}
          rows={4}
          placeholder='-----BEGIN PRIVATE KEY-----'
          isOptional
        />
      </div>
      <div className='row'>
        <input
          ref={chooser}
          type='file'
          multiple
          hidden
          accept='.pem,.crt,.cer,.key,application/x-pem-file'
          onChange={({ target }) => void read(target.files ?? [])}
        />
        <button type='button' className='btn btn-s' onClick={() => chooser.current?.click()}>{chooseFiles}</button>
      </div>
      <CertificateCheck {...form.values} />
      {hasCertificate && <CheckField form={form} name='removeCertificate' label={labels.removeCertificate} />}
    </div>
  );
}
