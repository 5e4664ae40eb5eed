# perl's other workload, which is what it is mostly used for: lines of a log, matched, counted and summed up.
use strict;
use warnings;

my $rounds = shift;
my @paths = map { "/service/" . ("item" x ($_ % 4 + 1)) . "/$_" } 1 .. 40;
my $total = 0;
for my $round (1 .. $rounds) {
    my $log = "";
    for my $i (1 .. 8000) {
        my $status = $i % 17 == 0 ? 500 : $i % 5 == 0 ? 404 : 200;
        $log .= sprintf("10.%d.%d.%d - [%02d:%02d:%02d] \"GET %s HTTP/1.1\" %d %d\n", $round % 256, $i % 7,
                        $i % 251, $i / 3600 % 24, $i / 60 % 60, $i % 60, $paths[$i % @paths], $status,
                        $i * 7919 % 65521);
    }
    my (%hits, %bytes, %errors);
    while ($log =~ /^(\S+) - \[(\d+):\d+:\d+\] "GET (\S+) HTTP\/[\d.]+" (\d+) (\d+)$/mg) {
        $hits{$3}++;
        $bytes{$1} += $5;
        $errors{"$2 $4"}++ if $4 >= 400;
    }
    $total += $hits{$_} * length for sort keys %hits;
    $total += $bytes{$_} for sort { $bytes{$b} <=> $bytes{$a} } keys %bytes;
    $total += $errors{$_} for keys %errors;
}
print "$total\n";
