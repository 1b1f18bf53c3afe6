import { isIP } from 'node:net';
import { generate } from 'selfsigned';

/** A self-signed certificate with its key, as PEM texts. They protect nothing: they are here for all to read. */
export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** For *.p.example.com, from 2020 to 2120. */
export const covering: TestCertificate = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBVTCB/KADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWFkaXQgdGVz
dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
YWRpdCB0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEiEhdDXsMqh/qRNc0
8B5KxqI6hE9oq4cpUIMRrj3tGirKEvDY94f387IKpI8t4kXlGgpKZpvsf7j5omgN
XTIhGaM9MDswGgYDVR0RBBMwEYIPKi5wLmV4YW1wbGUuY29tMB0GA1UdDgQWBBTa
UnRxt20zCWf72N1wcoahrUIyjTAKBggqhkjOPQQDAgNIADBFAiEA+xRlUaw1Wjii
awDyBGgTEhMZudp73yb8MwNGeTmPBlACIHJ7pbn0dPC1SGNZMwVQrJqYLgapO7+9
jvrhhYvNf2Uo
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgoaRcNg4XbYRGgoxs
Lt7nMqNd1Gll+3BHlsdVTKbSy92hRANCAASISF0NewyqH+pE1zTwHkrGojqET2ir
hylQgxGuPe0aKsoS8Nj3h/fzsgqkjy3iReUaCkpmm+x/uPmiaA1dMiEZ
-----END PRIVATE KEY-----
`,
};

/** What the first start of a server makes for its bridge, from 2020 to 2120. */
export const bridge: TestCertificate = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBUzCB+qADAgECAgk+ZJ2nx0Ou8HMwCgYIKoZIzj0EAwIwFjEUMBIGA1UEAxML
QWRpdCBicmlkZ2UwIBcNMjAwMTAxMDAwMDAwWhgPMjEyMDAxMDEwMDAwMDBaMBYx
FDASBgNVBAMTC0FkaXQgYnJpZGdlMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE
lsRIHno3nVmAROFGz6If6/ibC5KWv3yD7IpQkdlSKc+ymIVlnSec9jn+9Q4DSOui
XKtcKdlMj5wJY5U0BI8qh6MvMC0wCQYDVR0TBAIwADALBgNVHQ8EBAMCB4AwEwYD
VR0lBAwwCgYIKwYBBQUHAwEwCgYIKoZIzj0EAwIDSAAwRQIgQxT7GoBHrDf8qjuI
Gz6ZrMYcLRMu0muc88EmniOlWOMCIQCSVUm6Fj2HHMh0bG4D84xXqZ9zpxrDG6fd
6ruWtcZ2NQ==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgOUWYV6YoJfTidmfE
04hFx9tOfx9qGtLo17+FKTnAsJ+hRANCAASWxEgeejedWYBE4UbPoh/r+JsLkpa/
fIPsilCR2VIpz7KYhWWdJ5z2Of71DgNI66Jcq1wp2UyPnAljlTQEjyqH
-----END PRIVATE KEY-----
`,
};

/** For *.example.org, from 2020 to 2120. */
export const other: TestCertificate = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBUzCB+qADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWFkaXQgdGVz
dDAgFw0yMDAxMDEwMDAwMDBaGA8yMTIwMDEwMTAwMDAwMFowFDESMBAGA1UEAwwJ
YWRpdCB0ZXN0MFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE/DGiaEQyR/+BgjE3
Env+Im+GSVJEa5nQ5gMiW0mSzZhZDkTmZni2u9JedSXkHmEnAhXiTCGIz3VPgsIJ
L4PqLKM7MDkwGAYDVR0RBBEwD4INKi5leGFtcGxlLm9yZzAdBgNVHQ4EFgQUraz8
UirqCmhQes123fDnRc0XLmwwCgYIKoZIzj0EAwIDSAAwRQIgRunxipGTOBCgghNX
+4x/+zENlJN8Aelv37qQSmxYGXwCIQCKfbeEt2VaIzKl+mMrqzMAGLZxRQcLo27T
Qq/A6P1QPg==
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgSWKiw+/VT1m2hjQk
M0x1Z3T5Ju69ZrkP1cacs3Ay9t+hRANCAAT8MaJoRDJH/4GCMTcSe/4ib4ZJUkRr
mdDmAyJbSZLNmFkOROZmeLa70l51JeQeYScCFeJMIYjPdU+Cwgkvg+os
-----END PRIVATE KEY-----
`,
};

/** For *.p.example.com, from 2019 to 2020. */
export const expired: TestCertificate = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIBUjCB+qADAgECAgEBMAoGCCqGSM49BAMCMBQxEjAQBgNVBAMMCWFkaXQgdGVz
dDAeFw0xOTAxMDEwMDAwMDBaFw0yMDAxMDEwMDAwMDBaMBQxEjAQBgNVBAMMCWFk
aXQgdGVzdDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABBcwh80YAuNNERXaZye9
nPUERg8fDNaQwRA95L3vh0FXKIDcRl4Rx7qFSd1mwk9funqKwebcBG7Azi0V64HS
VOujPTA7MBoGA1UdEQQTMBGCDyoucC5leGFtcGxlLmNvbTAdBgNVHQ4EFgQUG8ic
14LKBZm8fXxgrObWSl+i55owCgYIKoZIzj0EAwIDRwAwRAIgLpI3mEV1lf7BmFlg
nxYzeutaSKMLkSjt73MKLvhvbmMCIH4rVbKTfuItoIu3/kyCpSVbeelZ4Vr0s7Lo
X1w2Rk7z
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgKFiL6WkJgaXKUDVV
2A9/fDIDhhCwfi94Uf2XteMgLtyhRANCAAQXMIfNGALjTREV2mcnvZz1BEYPHwzW
kMEQPeS974dBVyiA3EZeEce6hUndZsJPX7p6isHm3ARuwM4tFeuB0lTr
-----END PRIVATE KEY-----
`,
};

/** Makes a self-signed certificate for names and addresses, valid for a year by default. */
export async function makeCertificate(
  names: readonly string[],
  { from = new Date(Date.now() - 60_000), to = new Date(Date.now() + 365 * 86_400_000) }: { readonly from?: Date; readonly to?: Date } = {},
): Promise<TestCertificate> {
  const { cert, private: key } = await generate([{ name: 'commonName', value: names[0] ?? '' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: from,
    notAfterDate: to,
    extensions: [{ name: 'subjectAltName', altNames: names.map((value) => isIP(value) === 0 ? { type: 2, value } : { type: 7, ip: value }) }],
  });
  return { certificate: `${cert.trim()}\n`, key: `${key.trim()}\n` };
}
